#include "llama/shared_prompt.h"

#include <atomic>
#include <memory>

#include "base/on_cancel.h"
#include "llama/own_sequence.h"
#include "llama/prompt.h"
#include "llama/shared_sequence.h"

namespace wasinn::llama {

namespace {

std::unique_ptr<Sequence> MakeSequence(const Model& model, const Settings& settings, const wasinn_load_options& options,
                                       const std::atomic<bool>& cancelled) {
  if (model.batcher() == nullptr) {
    return std::make_unique<OwnSequence>(model, settings, options.max_bytes, options.account, cancelled);
  }
  return std::make_unique<SharedSequence>(model.batcher(), nullptr, settings.context, model.recurrent(), cancelled);
}

}  // namespace

StatePtr EvaluateSharedPrompt(const Model& model, const std::string& text, const wasinn_load_options& options) {
  model.CheckGenerates();
  std::atomic<bool> cancelled = false;
  const base::OnCancel cancel(options, [&cancelled] { cancelled = true; });
  const std::unique_ptr<Sequence> sequence = MakeSequence(model, model.config().defaults, options, cancelled);
  const std::vector<llama_token> tokens = Tokenize(model, text, sequence->capacity());
  constexpr bool kReuse = false;
  sequence->Begin(tokens, nullptr, kReuse, nullptr);
  sequence->Evaluate(tokens, nullptr, 1);
  return sequence->Save(backend::Reservation(model.host().services(), options.account));
}

}  // namespace wasinn::llama
