// What is done with a place between decodes, on the thread that decodes.
#include <exception>

#include "llama/batcher.h"

namespace wasinn::llama {

bool Batcher::Do(const Lease& lease, const Job& job, const std::atomic<bool>& cancelled) {
  std::unique_lock lock(mutex_);
  Place& mine = places_[lease.place];
  if (mine.lease != lease.number) return false;
  Evaluation call{.work = {}, .cancelled = &cancelled, .job = &job, .kept = true};
  Await(&mine, &call, &lock);
  return true;
}

void Batcher::RunJobs() {
  for (size_t i = 0; i < places_.size(); ++i) {
    Place& place = places_[i];
    if (!place.IsWaiting() || place.evaluation->job == nullptr) continue;
    try {
      (*place.evaluation->job)(&place, static_cast<llama_seq_id>(i));
    } catch (...) {
      place.evaluation->error = std::current_exception();
    }
    place.evaluation->waiting = false;
    place.expected = true;
  }
}

bool Batcher::Save(const Lease& lease, State* state, const std::atomic<bool>& cancelled) {
  return Do(
      lease,
      [this, state](Place* place, llama_seq_id sequence) {
        state->held = place->held;
        SaveSequence(model_, context_.get(), sequence, state);
      },
      cancelled);
}

bool Batcher::Load(const Lease& lease, const State& state, const std::atomic<bool>& cancelled) {
  bool loaded = false;
  const bool done = Do(
      lease,
      [this, &state, &loaded](Place* place, llama_seq_id sequence) {
        place->held.Cut(0);
        Held held = state.held;
        loaded = LoadSequence(library_, context_.get(), sequence, state);
        if (loaded) place->held = std::move(held);
      },
      cancelled);
  return done && loaded;
}

}  // namespace wasinn::llama
