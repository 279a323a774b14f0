// A conversation with a llama context of its own.
#ifndef WASINN_BACKENDS_LLAMA_OWN_SEQUENCE_H_
#define WASINN_BACKENDS_LLAMA_OWN_SEQUENCE_H_

#include <cstdint>
#include <vector>

#include "common/reservation.h"
#include "llama/model.h"
#include "llama/sequence.h"
#include "llama/threads.h"

namespace wasinn::llama {

// What a llama context of these settings takes, without the model: the KV cache and the values of one evaluation. 0 in
// `sequences` is 1.
uint64_t ContextBytes(const Model& model, const Settings& settings, uint32_t sequences);

// The parameters that all have in common.
llama_context_params ContextParams(const Model& model, const Settings& settings);

class OwnSequence : public Sequence {
 public:
  // `max_bytes`: throws WASINN_TOO_LARGE where the llama context would take more; 0: no limit. `account`: who pays for
  // it. `gate`: what cancels.
  OwnSequence(const Model& model, const Settings& settings, uint64_t max_bytes, void* account,
              const backend::CancelGate& gate);

  size_t capacity() const override { return capacity_; }
  size_t Begin(std::span<const llama_token> tokens, bool reuse) override;
  llama_token Next(std::span<const llama_token> tokens, Sampler* sampler) override;
  void End() override {}

  // The embedding of a text, of length 1; of a model that ranks texts, its scores as they are. For settings with
  // `embedding`.
  std::vector<float> Embed(std::span<const llama_token> tokens);

 private:
  static bool IsCancelled(void* self);
  void Forget();
  void Evaluate(std::span<const llama_token> tokens);
  void SetLora(const Settings& settings);

  const Model& model_;
  const LlamaLibrary& library_;
  const backend::CancelGate& gate_;
  const Threads threads_;
  backend::Reservation reservation_;  // goes after the llama context
  ContextPtr context_;
  size_t capacity_ = 0;
  std::vector<llama_token> held_;  // what is in the KV cache
};

}  // namespace wasinn::llama

#endif  // WASINN_BACKENDS_LLAMA_OWN_SEQUENCE_H_
