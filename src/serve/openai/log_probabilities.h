// Probabilities of tokens, from the model's outputs to the forms of answers.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "serve/threads/completion.h"

namespace wasinn::serve::openai {

// For one text; used by one thread at a time. Functions that read a completion throw Failure.
class LogProbabilities {
 public:
  // `n_top`: alternatives for each token.
  explicit LogProbabilities(unsigned n_top) : n_top_(n_top) {}

  // Adds the current token.
  void AddStep(Completion& completion);
  // Returns tokens that were added since the last call: a list in the form of OpenAI's chat.
  nlohmann::json Take();
  // The same in the form of OpenAI's completions.
  nlohmann::json TakeAsColumns();
  // Returns all tokens, if none was added before, in either form, as text.
  std::string ReadAll(Completion& completion);
  std::string ReadAllAsColumns(Completion& completion);

 private:
  using Use = std::function<void()>;
  // Adds the elements of such an output. `use` is called after each.
  void Add(Completion& completion, const char* output, const Use& use);

  const unsigned n_top_;
  nlohmann::json fresh_ = nlohmann::json::array();
  size_t offset_ = 0;  // of the next token, in characters
};

}  // namespace wasinn::serve::openai
