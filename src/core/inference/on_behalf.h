// For which guest this thread calls a backend: a worker that ends by the call ends by that guest.
#pragma once

#include <cstdint>
#include <utility>

namespace wasinn::core {

class OnBehalf {
 public:
  // A guest's number in its host; 0: nobody's.
  explicit OnBehalf(uint64_t guest) : before_(std::exchange(now_, guest)) {}
  ~OnBehalf() { now_ = before_; }
  OnBehalf(const OnBehalf&) = delete;
  OnBehalf& operator=(const OnBehalf&) = delete;

  static uint64_t guest() { return now_; }

 private:
  static inline constinit thread_local uint64_t now_ = 0;
  const uint64_t before_;
};

}  // namespace wasinn::core
