// Work on a slot between decodes, on the decoding thread.
#include <exception>

#include "llama/batcher.h"

namespace wasinn::llama {

bool Batcher::Do(const Lease& lease, const Job& job, const std::atomic<bool>& cancelled) {
  std::unique_lock lock(mutex_);
  Slot& mine = slots_[lease.slot];
  if (mine.lease != lease.number) return false;
  Evaluation call{.work = {}, .cancelled = &cancelled, .job = &job, .kept = true};
  Await(&mine, &call, &lock);
  return true;
}

void Batcher::RunJobs() {
  for (size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (!slot.IsWaiting() || slot.evaluation->job == nullptr) continue;
    try {
      (*slot.evaluation->job)(&slot, static_cast<llama_seq_id>(i));
    } catch (...) {
      slot.evaluation->error = std::current_exception();
    }
    slot.evaluation->waiting = false;
    slot.expected = true;
  }
}

bool Batcher::Save(const Lease& lease, State* state, const std::atomic<bool>& cancelled) {
  return Do(
      lease,
      [this, state](Slot* slot, llama_seq_id sequence) {
        state->held = slot->held;
        SaveSequence(model_, context_.get(), sequence, state);
      },
      cancelled);
}

bool Batcher::Load(const Lease& lease, const State& state, const std::atomic<bool>& cancelled) {
  bool loaded = false;
  const bool done = Do(
      lease,
      [this, &state, &loaded](Slot* slot, llama_seq_id sequence) {
        slot->held.Cut(0);
        Held held = state.held;
        loaded = LoadSequence(library_, context_.get(), sequence, state);
        if (loaded) slot->held = std::move(held);
      },
      cancelled);
  return done && loaded;
}

}  // namespace wasinn::llama
