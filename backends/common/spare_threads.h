// The host's thread budget, for frameworks whose threads belong to one context each.
#ifndef WASINN_BACKENDS_COMMON_SPARE_THREADS_H_
#define WASINN_BACKENDS_COMMON_SPARE_THREADS_H_

#include <algorithm>
#include <atomic>

namespace wasinn::backend {

// So that all contexts together keep to the budget, each takes of it what it wants and what is left, beside its
// caller's own thread, and gives it back when it is freed. Any thread.
class SpareThreads {
 public:
  explicit SpareThreads(int budget) : spare_(budget - 1) {}

  // How many the caller may use, its own included: 1 to `wanted`.
  int Take(int wanted) {
    int spare = spare_.load();
    int taken = 0;
    do {
      taken = std::clamp(wanted - 1, 0, spare);
    } while (!spare_.compare_exchange_weak(spare, spare - taken));
    return taken + 1;
  }
  void Give(int threads) { spare_.fetch_add(threads - 1); }

 private:
  std::atomic<int> spare_;
};

}  // namespace wasinn::backend

#endif  // WASINN_BACKENDS_COMMON_SPARE_THREADS_H_
