#include "tflite/idle_sessions.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace wasinn::tflite {

IdleSessions::IdleSessions(size_t most, backend::SpareThreads* threads, backend::Reservation kept)
    : most_(most), threads_(threads), kept_(std::move(kept)) {}

IdleSessions::Idle IdleSessions::Remove(size_t index) {
  Idle removed = std::move(idle_[index]);
  idle_.erase(idle_.begin() + static_cast<ptrdiff_t>(index));
  kept_.Resize(kept_.bytes() - removed.bytes);
  return removed;
}

std::unique_ptr<Session> IdleSessions::Take(int threads) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(idle_, threads, [](const Idle& idle) { return idle.session->threads(); });
  if (found == idle_.end()) return nullptr;
  return Remove(static_cast<size_t>(found - idle_.begin())).session;
}

void IdleSessions::Give(std::unique_ptr<Session> session, uint64_t bytes) noexcept {
  if (most_ == 0) return;
  try {
    const int threads = session->threads();
    Idle idle{.threads = std::make_unique<backend::ThreadLease>(threads_, threads, threads),
              .session = std::move(session),
              .bytes = bytes};
    if (idle.threads->count() < threads) return;
    Idle oldest;  // it goes without the lock
    const std::lock_guard lock(mutex_);
    idle_.reserve(idle_.size() + 1);
    if (idle_.size() == most_) oldest = Remove(0);
    kept_.Resize(kept_.bytes() + bytes);
    idle_.push_back(std::move(idle));
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): there is no room for it; then it goes
  }
}

}  // namespace wasinn::tflite
