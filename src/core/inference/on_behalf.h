// Notes for which guest this thread calls a backend: if a worker ends in the call, that guest is blamed.
#pragma once

#include <cstdint>
#include <utility>

namespace wasinn::core {

class OnBehalf {
 public:
  // A guest's number in its host; 0: no guest.
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
