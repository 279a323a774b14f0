// The probabilities of an answer's tokens.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "common/reservation.h"
#include "llama/llama_library.h"

namespace wasinn::llama {

class Model;
class Sampler;

// In the form of OpenAI's logprobs.content, with token numbers. Used by one thread at a time.
class Probabilities {
 public:
  // `others`: the number of most probable alternatives for each token. `after`: probabilities after all samplers, as
  // `prob` and `top_probs`; otherwise the model's own. `account`: pays for the memory.
  Probabilities(const Model& model, size_t others, bool after, void* account);

  // Adds the token that the sampler chose last.
  void Add(llama_token token, const Sampler& sampler);
  // A JSON list.
  const std::string& text() const { return text_; }
  // The same, only for tokens since NewStep.
  const std::string& step() const { return step_; }
  void NewStep() { step_ = "[]"; }

 private:
  nlohmann::ordered_json About(llama_token token, const char* name, double number) const;
  nlohmann::ordered_json OfModel(llama_token token, std::span<const float> logits) const;
  nlohmann::ordered_json OfChoice(llama_token token, std::span<const llama_token_data> candidates) const;

  const Model& model_;
  const size_t others_;
  const bool after_;
  backend::Reservation reservation_;  // destroyed after it
  std::string text_ = "[]", step_ = "[]";
};

}  // namespace wasinn::llama
