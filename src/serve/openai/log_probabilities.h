// How probable tokens were, as the model tells it (its output `probabilities`), and as answers have it.
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

  // Of tokens that were not told yet: a list, as OpenAI's chat has it.
  Outcome<nlohmann::json> New(Completion& completion);
  // The same in the form that OpenAI's completions have.
  nlohmann::json AsColumns(const nlohmann::json& list);

 private:
  const unsigned n_top_;
  size_t n_read_ = 0;  // bytes of the list, up to its closing bracket
  size_t offset_ = 0;  // of the next token in the text, in characters
};

}  // namespace wasinn::serve::openai
