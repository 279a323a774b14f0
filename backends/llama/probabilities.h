// How probable the tokens of an answer were.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "common/reservation.h"
#include "llama/llama_library.h"

namespace wasinn::llama {

class Model;
class Sampler;

// As OpenAI's logprobs.content, with the tokens' numbers. One thread at a time.
class Probabilities {
 public:
  // `others`: how many of the most probable ones to tell beside each token. `after`: those that the samplers have left, as these made them,
  // as `prob` and `top_probs`; else the model's own, before anything that chooses among them. `account`: who pays for what it keeps.
  Probabilities(const Model& model, size_t others, bool after, void* account);

  // Of the token that the sampler has chosen last.
  void Add(llama_token token, const Sampler& sampler);
  // A JSON list.
  const std::string& text() const { return text_; }
  // The same of the last token alone, or of none since NewStep.
  const std::string& step() const { return step_; }
  void NewStep() { step_ = "[]"; }

 private:
  nlohmann::ordered_json About(llama_token token, const char* name, double number) const;
  nlohmann::ordered_json OfModel(llama_token token, std::span<const float> logits) const;
  nlohmann::ordered_json OfChoice(llama_token token, std::span<const llama_token_data> candidates) const;

  const Model& model_;
  const size_t others_;
  const bool after_;
  backend::Reservation reservation_;  // goes after it
  std::string text_ = "[]", step_ = "[]";
};

}  // namespace wasinn::llama
