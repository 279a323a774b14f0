// How probable tokens were, as the model tells it, and as answers have it.
#pragma once

#include <cstddef>

#include <nlohmann/json.hpp>

#include "serve/completion.h"

namespace wasinn::serve::openai {

// Of one text, on one thread at a time.
class LogProbabilities {
 public:
  // `n_top`: of so many tokens beside the chosen one.
  explicit LogProbabilities(unsigned n_top) : n_top_(n_top) {}

  // Of the token that has just come; or of all of them, where none was added before.
  Outcome<void> AddStep(Completion& completion) { return Add(completion, "step_probabilities"); }
  Outcome<void> AddAll(Completion& completion) { return Add(completion, "probabilities"); }
  // Those that were added and not taken yet: a list, as OpenAI's chat has it.
  nlohmann::json Take();
  // The same in the form that OpenAI's completions have.
  nlohmann::json TakeAsColumns();

 private:
  // By an output that is such a list.
  Outcome<void> Add(Completion& completion, const char* output);

  const unsigned n_top_;
  nlohmann::json fresh_ = nlohmann::json::array();
  size_t offset_ = 0;  // of the next token in the text, in characters
};

}  // namespace wasinn::serve::openai
