// Chooses tokens.
#ifndef WASINN_BACKENDS_LLAMA_SAMPLER_H_
#define WASINN_BACKENDS_LLAMA_SAMPLER_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/cancel_gate.h"
#include "common/reservation.h"
#include "llama/host.h"
#include "llama/logits_taker.h"
#include "llama/settings.h"
#include "llama/trigger_watch.h"

namespace wasinn::llama {

class Model;

// llama.cpp's samplers in its usual order: penalties, top-k, typical-p, top-p, min-p, temperature. As its own programs
// do, a token is chosen without the grammar first, and again with it where the grammar does not allow that one.
class Sampler : public LogitsTaker {
 public:
  // `form`: of a chat, or NULL. `account`: who pays for what it keeps.
  Sampler(const Model& model, const Settings& settings, const ChatForm* form, void* account);

  // Takes the logits of one token: a copy, in which nothing that a guest asked for has a part. Throws
  // WASINN_RUNTIME_ERROR where there are none.
  void Take(const float* logits) override;
  // Chooses a token by what was taken last, and remembers it. Throws WASINN_RUNTIME_ERROR where none can be chosen, and
  // WASINN_TIMEOUT where it was cancelled while it looked what goes on with a grammar.
  llama_token Choose(const backend::CancelGate& gate);
  // By which the last one was chosen. For settings with probabilities.
  std::span<const float> logits() const { return logits_; }
  bool keeps_logits() const { return keeps_logits_; }
  // Among which it was chosen, with the logits that the samplers have given them. For the same settings.
  std::span<const llama_token_data> candidates() const { return {array_.data, array_.size}; }

 private:
  std::string ConvertSchema(const std::string& schema) const;
  std::string GrammarText(const Settings& settings, const ChatForm* form) const;
  SamplerPtr MakeGrammar(const std::string& text);
  SamplerPtr ParseGrammar(const std::string& text) const;
  void BeginGrammar(const std::string& generation_prompt);
  void FindTooLong(uint64_t longest);
  void AddTo(llama_sampler* chain, const Settings& settings) const;
  llama_sampler* Dry(const SamplingSettings& settings) const;
  void Fill(const float* logits);
  llama_token ChooseAny();
  bool Allows(llama_token token);
  class Patience;
  void ApplyGrammar(const Patience& patience);
  llama_token ChooseWithGrammar(llama_token token, const backend::CancelGate& gate);
  void Watch(llama_token token, const backend::CancelGate& gate);

  const Model& model_;
  const LlamaLibrary& library_;
  backend::Reservation reservation_;  // goes after what it is for
  const SamplerPtr chain_;
  std::vector<bool> too_long_;  // tokens for this grammar; empty: none is
  const std::string grammar_text_;
  std::optional<TriggerWatch> watch_;  // the grammar does not hold yet
  SamplerPtr grammar_;                 // NULL: none
  const bool keeps_logits_, is_greedy_;
  std::vector<float> logits_;  // for a second choice, where there is a grammar, and for probabilities
  std::vector<llama_token_data> candidates_;
  llama_token_data_array array_ = {};
};

}  // namespace wasinn::llama

#endif  // WASINN_BACKENDS_LLAMA_SAMPLER_H_
