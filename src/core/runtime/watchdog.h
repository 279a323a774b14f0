// Deadlines. Frameworks poll no flag, so one thread of the host examines every run each 10 ms. It cancels runs that
// take too long, or that another thread asked to cancel. It examines runs, not objects, and sleeps when nothing runs. A
// run pays one atomic exchange at its beginning and one at its end; no clock, no lock.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "core/runtime/clock.h"
#include "core/runtime/started_in.h"
#include "core/status.h"

namespace wasinn::core {

class Watchdog;
class Watched;

// A place for one run. There are as many as ever ran at once. They live as long as the watchdog, each on a cache line
// of its own.
class alignas(64) RunSlot {
 public:
  // True if the slot was free: it belongs to `run` now.
  bool Take(const Watched& run) {
    uintptr_t word = word_.load(std::memory_order_relaxed);
    // Forget may clear the word in the meantime, which leaves it free.
    while (!Runs(word)) {
      if (word_.compare_exchange_weak(word, Word(run), std::memory_order_seq_cst)) return true;
    }
    return false;
  }
  // True if the ending run was not seen. Else LeaveSeen must end it.
  bool Leave(const Watched& run) {
    uintptr_t word = Word(run);
    return word_.compare_exchange_strong(word, kLeft, std::memory_order_acq_rel, std::memory_order_relaxed);
  }
  // Clears the mark of use, so that the next scan sees whether the slot was used again.
  void Forget() {
    uintptr_t word = kLeft;
    word_.compare_exchange_strong(word, kFree);
  }

 private:
  friend class Watchdog;
  friend class Watched;
  // A word is free, just left, or the address of a Watched with marks in its lowest bits.
  static constexpr uintptr_t kFree = 0, kLeft = 4;
  static constexpr uintptr_t kSeen = 1;        // by the watchdog, at seen_since_
  static constexpr uintptr_t kCancelling = 2;  // its cancel function is being called: the run must not end
  static constexpr uintptr_t kAgain = 8;       // during that, another thread wants it called, too
  static constexpr uintptr_t kMarks = kSeen | kCancelling | kAgain;
  static uintptr_t Word(const Watched& run) { return reinterpret_cast<uintptr_t>(&run); }
  static bool Runs(uintptr_t word) { return (word & ~kLeft) != kFree; }

  void LeaveSeen();
  // Takes the right to examine and cancel the run; `word` is the value that was read.
  bool Hold(uintptr_t word) {
    return (word & kCancelling) == 0 && word_.compare_exchange_strong(word, word | kCancelling);
  }
  void LetGo(uintptr_t word, const Watched& run);

  std::atomic<uintptr_t> word_{kFree};
  Clock::time_point seen_since_;  // only for the watchdog's thread
  RunSlot* next_ = nullptr;       // constant once the slot is in the list
};

// Runs again and again, one run at a time.
class alignas(16) Watched {
 public:
  // `cancel` makes the current run end soon. It is only called during a run: by the watchdog's thread every 10 ms until
  // the run has ended, and by CancelForGood; never by two threads at once. The run's end waits for it, so it must not
  // block. A deadline of 0 is none. `stop`, if given, cancels like CancelForGood when it becomes true. The watchdog
  // must outlive this, and have been started.
  Watched(Watchdog& dog, std::chrono::milliseconds deadline, std::function<void()> cancel,
          const std::atomic<bool>* stop = nullptr)
      : dog_(dog), deadline_(deadline), cancel_(std::move(cancel)), stop_(stop) {}
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  // One run, until End or the destructor.
  class Run {
   public:
    explicit Run(Watched& watched) : watched_(&watched) { watched.Begin(); }
    ~Run() {
      if (watched_ != nullptr) (void)watched_->End();
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    // True if the deadline passed during this run.
    bool End() { return std::exchange(watched_, nullptr)->End(); }

   private:
    Watched* watched_;
  };

  // Cancels the current run and every later one, from any thread.
  void CancelForGood();
  // From any thread: runs are cancelled, soon, until Renew.
  void CancelUntilRenewed() {
    Cancelled no = Cancelled::kNo;
    cancelled_.compare_exchange_strong(no, Cancelled::kUntilRenewed);
  }
  void Renew() {
    Cancelled until_renewed = Cancelled::kUntilRenewed;
    cancelled_.compare_exchange_strong(until_renewed, Cancelled::kNo);
  }
  bool cancelled() const {
    return cancelled_.load(std::memory_order_seq_cst) != Cancelled::kNo ||
           (stop_ != nullptr && stop_->load(std::memory_order_acquire));
  }
  bool cancelled_until_renewed() const { return cancelled_.load() == Cancelled::kUntilRenewed; }

 private:
  friend class Watchdog;
  friend class RunSlot;
  void Begin();
  bool End();

  Watchdog& dog_;
  const std::chrono::milliseconds deadline_;
  const std::function<void()> cancel_;
  const std::atomic<bool>* const stop_;
  std::atomic<RunSlot*> slot_{nullptr};  // of the current run or of the last one
  bool overdue_ = false;                 // guarded by holding the slot's word
  enum class Cancelled : uint8_t { kNo, kUntilRenewed, kForGood };
  std::atomic<Cancelled> cancelled_{Cancelled::kNo};
};

class Watchdog {
 public:
  static constexpr std::chrono::milliseconds kScan{10};
  // It goes to sleep after this many scans without runs, because waking it costs a run a system call.
  static constexpr int kIdleScans = 10;

  using StartThread = std::function<std::thread(std::function<void()>)>;
  static std::thread StartUsualThread(const std::function<void()>& run) { return std::thread(run); }
  // Deadlines use `clock`; the thread scans every 10 ms of the system's time.
  explicit Watchdog(StartThread start = StartUsualThread, Clock clock = {})
      : clock_(clock), start_thread_(std::move(start)) {}
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Starts the thread if it does not run yet. Call it before anything is watched. It fails if the system gives no
  // thread.
  Status Start();

  const Clock& clock() const { return clock_; }
  bool asleep() const { return asleep_.load(std::memory_order_acquire); }
  uint64_t scans() const { return scans_.load(std::memory_order_relaxed); }

 private:
  friend class Watched;
  RunSlot* TakeSlot(const Watched& run);
  void WakeIfAsleep() {
    if (asleep_.load(std::memory_order_seq_cst)) Wake();
  }
  void Wake();
  void Run();
  bool Sleep(std::unique_lock<std::mutex>& lock);
  bool Scan();
  bool AnythingRuns() const;
  static void Look(RunSlot& slot, Clock::time_point now);

  std::atomic<bool> asleep_{false};
  std::atomic<RunSlot*> first_{nullptr};
  std::atomic<uint64_t> scans_{0};
  const Clock clock_;
  const StartThread start_thread_;
  StartedIn started_in_;
  std::atomic<bool> has_started_{false};
  std::mutex mutex_;  // guards the members below; never held during a cancel
  // Its destructor waits for all waiting threads: for ever in a forked OS process.
  std::unique_ptr<std::condition_variable> wake_ = std::make_unique<std::condition_variable>();
  bool stopping_ = false;
  std::thread thread_;
};

inline void Watched::Begin() {
  RunSlot* slot = slot_.load(std::memory_order_relaxed);
  if (slot == nullptr || !slot->Take(*this)) slot_.store(dog_.TakeSlot(*this), std::memory_order_seq_cst);
  // After taking the slot: the watchdog scans the slots once more after it has announced its sleep.
  dog_.WakeIfAsleep();
}

inline bool Watched::End() {
  RunSlot* slot = slot_.load(std::memory_order_relaxed);
  if (slot->Leave(*this)) return false;
  slot->LeaveSeen();
  return std::exchange(overdue_, false);
}

}  // namespace wasinn::core
