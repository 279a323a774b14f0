// In which OS process something is: one that was forked off it has none of its threads, and may find their locks held.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace wasinn::core {

// Any thread.
class StartedIn {
 public:
  void SetToThisProcess() { forks_.store(Forks().load(std::memory_order_relaxed), std::memory_order_release); }
  // False, too, while nothing was started.
  bool is_elsewhere() const {
    const uint32_t forks = forks_.load(std::memory_order_acquire);
    return forks != 0 && forks != Forks().load(std::memory_order_relaxed);
  }

 private:
  // How many forks led to this OS process, and one. Counted, since to ask for the process's number is a system call.
  static std::atomic<uint32_t>& Forks() { return forks_of_process_; }
  inline static std::atomic<uint32_t> forks_of_process_{1};
  inline static const int is_counted_ =
      ::pthread_atfork(nullptr, nullptr, [] { forks_of_process_.fetch_add(1, std::memory_order_relaxed); });

  std::atomic<uint32_t> forks_{0};
};

}  // namespace wasinn::core
