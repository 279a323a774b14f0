// How probable tokens were, as the model tells it, and as answers have it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "serve/threads/completion.h"

namespace wasinn::serve::openai {

// Of one text, on one thread at a time.
class LogProbabilities {
 public:
  // `n_top`: of so many tokens beside the chosen one.
  explicit LogProbabilities(unsigned n_top) : n_top_(n_top) {}

  // Of the token that has just come.
  Outcome<void> AddStep(Completion& completion);
  // Those that were added and not taken yet: a list, as OpenAI's chat has it.
  nlohmann::json Take();
  // The same in the form that OpenAI's completions have.
  nlohmann::json TakeAsColumns();
  // Of all tokens, where none was added before, in both forms: as text.
  Outcome<std::string> ReadAll(Completion& completion);
  Outcome<std::string> ReadAllAsColumns(Completion& completion);

 private:
  using Use = std::function<void()>;
  // By an output that is such a list. `use`: after each of its elements, which is added.
  Outcome<void> Add(Completion& completion, const char* output, const Use& use);

  const unsigned n_top_;
  nlohmann::json fresh_ = nlohmann::json::array();
  size_t offset_ = 0;  // of the next token in the text, in characters
};

}  // namespace wasinn::serve::openai
