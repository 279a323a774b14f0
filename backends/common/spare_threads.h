// The host's thread budget, for frameworks whose threads belong to one context each.
#pragma once

#include <algorithm>
#include <atomic>

namespace wasinn::backend {

// All computes together keep to the budget: besides its caller's own thread, each takes as many as it wants and are
// left, and gives them back at its end. Thread-safe.
class SpareThreads {
 public:
  explicit SpareThreads(int budget) : spare_(budget - 1) {}
  // The threads that may sleep between computes, if a pool belongs to one context: those of `contexts` with the whole
  // budget. A limit, because frameworks crash if the system gives no more threads.
  SpareThreads(int budget, int contexts)
      : spare_(std::min(contexts * (std::min(budget, kMaxAsleep) - 1), kMaxAsleep)) {}

  // The number of threads for the caller, including its own: `least` to `wanted`, or 1.
  int Take(int wanted, int least = 1) {
    int spare = spare_.load();
    int taken = 0;
    do {
      taken = std::clamp(wanted - 1, 0, spare);
      if (taken + 1 < least) taken = 0;
      if (taken == 0) break;
    } while (!spare_.compare_exchange_weak(spare, spare - taken));
    return taken + 1;
  }
  void Give(int threads) {
    if (threads > 1) spare_.fetch_add(threads - 1);
  }

 private:
  static constexpr int kMaxAsleep = 1024;

  std::atomic<int> spare_;
};

// The threads of one compute, until it ends.
class ThreadLease {
 public:
  // Without `least`, as many as are left; else that many or 1.
  ThreadLease(SpareThreads* spare, int wanted, int least = 1) : spare_(spare), count_(spare->Take(wanted, least)) {}
  ~ThreadLease() { spare_->Give(count_); }
  ThreadLease(const ThreadLease&) = delete;
  ThreadLease& operator=(const ThreadLease&) = delete;

  int count() const { return count_; }

 private:
  SpareThreads* const spare_;
  const int count_;
};

}  // namespace wasinn::backend
