// A mutex for a few instructions: without contention, locking and unlocking call no function.
#pragma once

#include <atomic>
#include <cstdint>

namespace wasinn::core {

// As std::mutex, for std::lock_guard. Waiting threads sleep. (std::mutex costs some fifty instructions more each time,
// three times in each inference.)
class WordMutex {
 public:
  WordMutex() = default;
  WordMutex(const WordMutex&) = delete;
  WordMutex& operator=(const WordMutex&) = delete;

  void lock() {
    uint32_t free = kFree;
    if (!word_.compare_exchange_strong(free, kHeld, std::memory_order_acquire)) Wait();
  }
  void unlock() {
    if (word_.exchange(kFree, std::memory_order_release) == kWanted) word_.notify_one();
  }

 private:
  static constexpr uint32_t kFree = 0, kHeld = 1, kWanted = 2;  // held, and a thread may wait

  void Wait() {
    while (word_.exchange(kWanted, std::memory_order_acquire) != kFree) word_.wait(kWanted, std::memory_order_relaxed);
  }

  std::atomic<uint32_t> word_{kFree};
};

}  // namespace wasinn::core
