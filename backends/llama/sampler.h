// Chooses tokens.
#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/reservation.h"
#include "llama/host.h"
#include "llama/logits_taker.h"
#include "llama/matcher.h"
#include "llama/settings.h"
#include "llama/trigger_watch.h"

namespace wasinn::llama {

class Model;

// llama.cpp's samplers in its usual order: penalties, top-k, typical-p, top-p, min-p, temperature. Like its programs,
// chooses a token without the grammar first, and again with it if the grammar forbids that one.
class Sampler : public LogitsTaker {
 public:
  // `form`: of a chat, or NULL. `cancelled` must outlive this object. `account`: pays for the memory. Throws like
  // Matcher, and WASINN_ERROR_INVALID_ARGUMENT for settings that exclude each other.
  Sampler(const Model& model, const Settings& settings, const ChatForm* form, const std::atomic<bool>& cancelled,
          void* account);

  // Copies the logits of one token, whatever the guest's settings are. Throws WASINN_ERROR_RUNTIME if there are none.
  void Take(const float* logits) override;
  // Chooses a token from the last logits, and remembers it. Throws WASINN_ERROR_RUNTIME or
  // WASINN_ERROR_INVALID_ARGUMENT if none can be chosen, and like Matcher.
  llama_token Choose();
  // The logits of the last choice. For settings with probabilities.
  std::span<const float> logits() const { return logits_; }
  bool keeps_logits() const { return keeps_logits_; }
  // The candidates of the last choice, with logits after the samplers. For the same settings.
  std::span<const llama_token_data> candidates() const { return {array_.data, array_.size}; }

 private:
  std::string GrammarText(const Settings& settings, const ChatForm* form);
  void BeginGrammar(const std::string& generation_prompt);
  void AddTo(llama_sampler* chain, const Settings& settings) const;
  llama_sampler* Dry(const SamplingSettings& settings) const;
  void Fill(const float* logits);
  llama_token ChooseAny();
  llama_token ChooseWithGrammar(llama_token token);
  void Watch(llama_token token);

  const Model& model_;
  const LlamaLibrary& library_;
  backend::Reservation reservation_;  // destroyed after the others
  const SamplerPtr chain_;
  const std::atomic<bool>& cancelled_;
  const bool may_go_without_;          // the grammar is for tool calls, which a model may write differently
  std::optional<TriggerWatch> watch_;  // the grammar does not apply yet
  std::optional<Matcher> grammar_;
  const bool keeps_logits_, is_greedy_;
  std::vector<float> logits_;  // for a second choice, if there is a grammar, and for probabilities
  std::vector<llama_token_data> candidates_;
  llama_token_data_array array_ = {};
};

}  // namespace wasinn::llama
