// How long a client may take for what comes or goes in pieces: a rate, so that what is large has its time and what stands still has not.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace wasinn::serve {

class MinDataRate {
 public:
  using Clock = std::chrono::steady_clock;

  explicit MinDataRate(std::chrono::milliseconds slow) : slow_(slow), first_(Clock::now() + slow) {}
  // That have come or gone.
  void Add(uint64_t bytes) {
    bytes_ += bytes;
    last_ = Clock::now();
  }
  // For which there was nothing to come or go.
  void Skip(Clock::duration time) {
    first_ += time;
    last_ += time;
  }
  // For the next piece. Who was quick before may not stand still for longer than anybody else.
  Clock::time_point deadline() const { return std::min(DeadlineOf(bytes_), last_ + slow_); }
  // For so many bytes, all of which are still to come or go.
  Clock::time_point DeadlineOf(uint64_t bytes) const { return first_ + std::chrono::milliseconds(bytes / kBytesPerMs); }

 private:
  static constexpr uint64_t kBytesPerMs = 100;

  const std::chrono::milliseconds slow_;
  Clock::time_point first_;
  Clock::time_point last_ = first_ - slow_;
  uint64_t bytes_ = 0;
};

}  // namespace wasinn::serve
