#include "llama/state_use.h"

#include "common/throw.h"
#include "llama/model.h"

namespace wasinn::llama {

using backend::Throw;

StateUse::StateUse(const Model& model, const Settings& settings, const Sequence& sequence,
                   std::span<const llama_token> tokens, std::span<const MediaSpan> media, GuestStates* states,
                   void* account)
    : model_(model),
      account_(account),
      states_(states),
      save_as_(settings.state.save),
      state_(Find(settings, sequence, tokens, media)) {}

StatePtr StateUse::Find(const Settings& settings, const Sequence& sequence, std::span<const llama_token> tokens,
                        std::span<const MediaSpan> media) const {
  StatePtr own = FindOwn(settings, sequence);
  const StatePtr& shared = model_.shared_prompt();
  if (shared == nullptr || !settings.cache_prompt || shared->kind != sequence.kind()) return own;
  return own != nullptr && own->held.Usable(tokens, media) >= shared->held.Usable(tokens, media) ? own : shared;
}

StatePtr StateUse::FindOwn(const Settings& settings, const Sequence& sequence) const {
  if (!settings.state.erase.empty()) states_->Erase(settings.state.erase);
  if (!save_as_.empty()) states_->CheckRoom(save_as_);
  if (settings.state.restore.empty()) return nullptr;
  StatePtr state = states_->Find(settings.state.restore);
  if (state->kind == sequence.kind()) return state;
  Throw(WASINN_ERROR_INVALID_ARGUMENT,
        "restore-state: '{}' was saved with different adapters, cache types or flash-attn", settings.state.restore);
}

void StateUse::Save(Sequence* sequence) const {
  if (save_as_.empty()) return;
  states_->Put(save_as_, sequence->Save(backend::Reservation(model_.host().services(), account_)));
}

}  // namespace wasinn::llama
