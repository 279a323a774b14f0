#include "core/runtime/watchdog.h"

#include <system_error>

namespace wasinn::core {

void RunSlot::LeaveSeen() {
  for (;;) {
    uintptr_t word = word_.load(std::memory_order_acquire);
    if ((word & kCancelling) != 0) {
      word_.wait(word, std::memory_order_acquire);
    } else if (word_.compare_exchange_weak(word, kLeft, std::memory_order_acq_rel)) {
      return;
    }
  }
}

void RunSlot::LetGo(uintptr_t word, const Watched& run) {
  uintptr_t held = word | kCancelling;
  // The thread that set the mark cancelled the run, perhaps after this thread had looked.
  if (!word_.compare_exchange_strong(held, word, std::memory_order_acq_rel)) {
    run.cancel_();
    word_.store(word, std::memory_order_release);
  }
  word_.notify_all();
}

void Watched::CancelForGood() {
  cancelled_.store(Cancelled::kForGood, std::memory_order_seq_cst);
  RunSlot* slot = slot_.load(std::memory_order_seq_cst);
  if (slot == nullptr) return;
  // If this does not run now, the next run finds `cancelled_` at its beginning.
  uintptr_t word = slot->word_.load(std::memory_order_seq_cst);
  while ((word & ~RunSlot::kMarks) == RunSlot::Word(*this)) {
    if ((word & RunSlot::kCancelling) != 0) {  // the cancelling thread cancels once more
      if (slot->word_.compare_exchange_weak(word, word | RunSlot::kAgain)) return;
    } else if (slot->Hold(word)) {
      cancel_();
      return slot->LetGo(word, *this);
    } else {
      word = slot->word_.load(std::memory_order_seq_cst);
    }
  }
}

Watchdog::~Watchdog() {
  if (started_in_.is_elsewhere()) {
    thread_.detach();
    (void)wake_.release();
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_->notify_all();
  if (thread_.joinable()) thread_.join();
  for (RunSlot* slot = first_.load(); slot != nullptr;) delete std::exchange(slot, slot->next_);
}

Status Watchdog::Start() {
  RETURN_IF_ERROR(started_in_.Check());
  if (has_started_.load(std::memory_order_acquire)) return Status();
  const std::lock_guard lock(mutex_);
  if (has_started_.load(std::memory_order_relaxed)) return Status();
  try {
    thread_ = start_thread_([this] { Run(); });
    started_in_.SetToThisProcess();
    has_started_.store(true, std::memory_order_release);
  } catch (const std::system_error& error) {
    return Error(WASINN_ERROR_RUNTIME, "the host's thread for deadlines cannot be started: {}", error.what());
  }
  return Status();
}

RunSlot* Watchdog::TakeSlot(const Watched& run) {
  for (RunSlot* slot = first_.load(std::memory_order_acquire); slot != nullptr; slot = slot->next_) {
    if (slot->Take(run)) return slot;
  }
  auto made = std::make_unique<RunSlot>();
  (void)made->Take(run);
  RunSlot* first = first_.load(std::memory_order_relaxed);
  do {
    made->next_ = first;
  } while (!first_.compare_exchange_weak(first, made.get(), std::memory_order_seq_cst));
  return made.release();
}

void Watchdog::Wake() {
  if (started_in_.is_elsewhere()) return;
  {
    const std::lock_guard lock(mutex_);
    asleep_.store(false, std::memory_order_relaxed);
  }
  wake_->notify_all();
}

void Watchdog::Run() {
  std::unique_lock lock(mutex_);
  int idle = 0;
  while (!stopping_) {
    if (idle >= kIdleScans && Sleep(lock)) idle = 0;
    if (stopping_) return;
    lock.unlock();
    idle = Scan() ? 0 : idle + 1;
    lock.lock();
    wake_->wait_for(lock, kScan, [this] { return stopping_; });
  }
}

// False if a run has begun at this moment.
bool Watchdog::Sleep(std::unique_lock<std::mutex>& lock) {
  asleep_.store(true, std::memory_order_seq_cst);
  if (AnythingRuns()) {
    asleep_.store(false, std::memory_order_relaxed);
    return false;
  }
  wake_->wait(lock, [this] { return stopping_ || !asleep_.load(std::memory_order_relaxed); });
  return true;
}

bool Watchdog::AnythingRuns() const {
  for (const RunSlot* slot = first_.load(std::memory_order_seq_cst); slot != nullptr; slot = slot->next_) {
    if (RunSlot::Runs(slot->word_.load(std::memory_order_seq_cst))) return true;
  }
  return false;
}

// True if anything ran since the last scan.
bool Watchdog::Scan() {
  scans_.fetch_add(1, std::memory_order_relaxed);
  const Clock::time_point now = clock_.now();
  bool ran = false;
  for (RunSlot* slot = first_.load(std::memory_order_acquire); slot != nullptr; slot = slot->next_) {
    if (slot->word_.load(std::memory_order_relaxed) == RunSlot::kFree) continue;
    ran = true;
    Look(*slot, now);
  }
  return ran;
}

void Watchdog::Look(RunSlot& slot, Clock::time_point now) {
  uintptr_t word = slot.word_.load(std::memory_order_acquire);
  if (!RunSlot::Runs(word)) {
    slot.Forget();
    return;
  }
  if ((word & RunSlot::kSeen) == 0) {
    // A new run may be over in a moment: it is not examined before the next scan.
    if ((word & RunSlot::kCancelling) == 0 && slot.word_.compare_exchange_strong(word, word | RunSlot::kSeen)) {
      slot.seen_since_ = now;
    }
    return;
  }
  if (!slot.Hold(word)) return;
  // Until LetGo, neither can the run end, nor `watched` be destroyed.
  // NOLINTNEXTLINE(performance-no-int-to-ptr): with marks
  auto& watched = *reinterpret_cast<Watched*>(word & ~RunSlot::kMarks);
  const bool overdue = watched.deadline_.count() > 0 && now - slot.seen_since_ >= watched.deadline_;
  if (overdue) watched.overdue_ = true;
  if (overdue || watched.cancelled()) watched.cancel_();
  slot.LetGo(word, watched);
}

}  // namespace wasinn::core
