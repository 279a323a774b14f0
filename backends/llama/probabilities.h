// How probable the tokens of an answer were.
#ifndef WASINN_BACKENDS_LLAMA_PROBABILITIES_H_
#define WASINN_BACKENDS_LLAMA_PROBABILITIES_H_

#include <span>
#include <string>

#include "common/reservation.h"
#include "llama/llama_library.h"

namespace wasinn::llama {

class Model;

// As OpenAI's logprobs.content: the model's own probabilities, before anything that chooses among them. One thread at a
// time.
class Probabilities {
 public:
  // `others`: how many of the most probable ones to tell beside each token. `account`: who pays for what it keeps.
  Probabilities(const Model& model, size_t others, void* account);

  void Add(llama_token token, std::span<const float> logits);
  // A JSON list.
  const std::string& text() const { return text_; }
  // The same of the last token alone, or of none since NewStep.
  const std::string& step() const { return step_; }
  void NewStep() { step_ = "[]"; }

 private:
  const Model& model_;
  const size_t others_;
  backend::Reservation reservation_;  // goes after it
  std::string text_ = "[]", step_ = "[]";
};

}  // namespace wasinn::llama

#endif  // WASINN_BACKENDS_LLAMA_PROBABILITIES_H_
