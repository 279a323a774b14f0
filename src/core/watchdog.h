// Deadlines. Frameworks poll no flag, so one thread per host looks at everything that runs every 10 ms and cancels what
// runs for too long, or what somebody asked to cancel. What is watched pays two atomic increments per run, no clock and
// no lock.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace wasinn::core {

// Something that runs again and again, one run at a time.
class Watched {
 public:
  // `cancel` makes the current run end soon; it is called on the watchdog's thread every 10 ms until the run has ended,
  // and must bear being called just before or just after a run. A deadline of 0 is none. `stop`, if given, cancels like
  // CancelForGood when it becomes true.
  Watched(std::chrono::milliseconds deadline, std::function<void()> cancel, const std::atomic<bool>* stop = nullptr)
      : deadline_(deadline), cancel_(std::move(cancel)), stop_(stop) {}
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  void Begin() { Next(); }  // odd while running
  // True if the deadline passed during this run.
  bool End() {
    const uint64_t run = Next();
    return overdue_run_.load(std::memory_order_acquire) == run;
  }
  // Cancels the current run and every later one, from any thread.
  void CancelForGood() { cancelled_.store(true, std::memory_order_release); }
  bool cancelled() const {
    return cancelled_.load(std::memory_order_acquire) || (stop_ != nullptr && stop_->load(std::memory_order_acquire));
  }

 private:
  friend class Watchdog;
  using Clock = std::chrono::steady_clock;
  // The number before. Only who runs writes it, so it needs no atomic increment, which would cost as much as ten
  // stores.
  uint64_t Next() {
    const uint64_t run = run_.load(std::memory_order_relaxed);
    run_.store(run + 1, std::memory_order_release);
    return run;
  }
  // On the watchdog's thread, at each scan.
  void Check(Clock::time_point now);

  const std::chrono::milliseconds deadline_;
  const std::function<void()> cancel_;
  const std::atomic<bool>* const stop_;
  std::atomic<uint64_t> run_{0};
  std::atomic<uint64_t> overdue_run_{0};  // even: none, since runs are odd
  std::atomic<bool> cancelled_{false};
  uint64_t seen_run_ = 0;  // of the watchdog's thread alone, like seen_since_
  Clock::time_point seen_since_;
};

class Watchdog {
 public:
  static constexpr std::chrono::milliseconds kScan{10};

  Watchdog() = default;
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Watches until the Watch goes. The thread starts with the first one and sleeps while there is nothing to watch.
  class Watch {
   public:
    Watch(Watchdog& watchdog, Watched& watched);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    Watchdog& watchdog_;
    std::list<Watched*>::iterator position_;
  };

 private:
  void Run();

  std::mutex mutex_;  // held during a scan, so that nothing watched can go while it is cancelled
  std::condition_variable wake_;
  std::list<Watched*> watched_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace wasinn::core
