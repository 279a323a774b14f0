// Remembers the OS process of an object: a forked one has none of its threads, and may find their locks held.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "core/status.h"

namespace wasinn::core {

// Thread-safe.
class StartedIn {
 public:
  void SetToThisProcess() { forks_.store(Forks().load(std::memory_order_relaxed), std::memory_order_release); }
  // False before anything was started, too.
  bool is_elsewhere() const {
    const uint32_t forks = forks_.load(std::memory_order_acquire);
    return forks != 0 && forks != Forks().load(std::memory_order_relaxed);
  }
  Status Check() const {
    if (!is_elsewhere()) return Status();
    return Error(WASINN_ERROR_LOST, "this OS process is a fork of the host's, without its threads");
  }

 private:
  // One more than the forks that led to this OS process. Counted, because asking for its number is a system call.
  static std::atomic<uint32_t>& Forks() { return forks_of_process_; }
  inline static std::atomic<uint32_t> forks_of_process_{1};
  inline static const int is_counted_ =
      ::pthread_atfork(nullptr, nullptr, [] { forks_of_process_.fetch_add(1, std::memory_order_relaxed); });

  std::atomic<uint32_t> forks_{0};
};

}  // namespace wasinn::core
