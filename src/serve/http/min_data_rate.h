// How long a client may take for a transfer in pieces: a rate, so that a large one has its time and a stalled one ends.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace wasinn::serve {

class MinDataRate {
 public:
  using Clock = std::chrono::steady_clock;

  explicit MinDataRate(std::chrono::milliseconds slow) : slow_(slow), first_(Clock::now() + slow) {}
  // Adds transferred bytes.
  void Add(uint64_t bytes) {
    bytes_ += bytes;
    last_ = Clock::now();
  }
  // Skips time in which there was nothing to transfer.
  void Skip(Clock::duration time) {
    first_ += time;
    last_ += time;
  }
  // For the next piece. A client that was fast before may not stall for longer than others.
  Clock::time_point deadline() const { return std::min(DeadlineOf(bytes_), last_ + slow_); }
  // For bytes that are all still to be transferred.
  Clock::time_point DeadlineOf(uint64_t bytes) const { return first_ + std::chrono::milliseconds(bytes / kBytesPerMs); }

 private:
  static constexpr uint64_t kBytesPerMs = 100;

  const std::chrono::milliseconds slow_;
  Clock::time_point first_;
  Clock::time_point last_ = first_ - slow_;
  uint64_t bytes_ = 0;
};

}  // namespace wasinn::serve
