// How long a client may take for what comes or goes in pieces: a rate, so that what is large has its time and what stands still has not.
#pragma once

#include <chrono>
#include <cstdint>

namespace wasinn::serve {

class Pace {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Pace(std::chrono::milliseconds slow) : first_(Clock::now() + slow) {}
  void Add(uint64_t bytes) { bytes_ += bytes; }
  // For the next piece. For all of them, where their bytes were added before.
  Clock::time_point deadline() const { return first_ + std::chrono::milliseconds(bytes_ / kBytesPerMs); }

 private:
  static constexpr uint64_t kBytesPerMs = 100;

  const Clock::time_point first_;
  uint64_t bytes_ = 0;
};

}  // namespace wasinn::serve
