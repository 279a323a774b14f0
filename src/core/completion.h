// Where a backend tells the end of a compute that it was given to do without a thread.
#pragma once

#include <wasinn/backend.h>

#include <array>
#include <atomic>
#include <cstddef>

namespace wasinn::core {

class AsyncCompute;
class Backend;

// Of one context, for one compute after the other. The backend has an address in it, another one for each of two
// computes that follow each other: so a second end of a compute, even one that comes late, finds that it was told. Wrong
// as that is, nothing else happens.
class Completion {
 public:
  explicit Completion(const Backend& backend) : ends_{End{backend}, End{backend}} {}
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  // From now on one end is expected. What `done` of wasinn_backend::compute_async gets for its `user`.
  void* Expect(AsyncCompute& compute) {
    now_ = 1 - now_;
    ends_[now_].compute = &compute;
    ends_[now_].is_expected.store(true, std::memory_order_release);
    return &ends_[now_];
  }
  // None is expected after all. False: it has been told.
  bool Withdraw() { return ends_[now_].is_expected.exchange(false, std::memory_order_acq_rel); }

  // `done` itself. Whoever waits for the end may free the completion at once.
  static void Done(void* end, wasinn_error* error) noexcept;

 private:
  struct End {
    const Backend& backend;
    AsyncCompute* compute = nullptr;
    std::atomic<bool> is_expected{false};
  };
  std::array<End, 2> ends_;
  size_t now_ = 0;
};

}  // namespace wasinn::core
