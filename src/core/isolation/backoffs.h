// A guest, or a model, that loses several workers waits longer and longer for the next.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>

#include "core/runtime/clock.h"

namespace wasinn::isolation {

// One thread at a time.
class Backoffs {
 public:
  static constexpr size_t kMaxDeaths = 3, kMaxDeathsAlone = 50;
  static constexpr std::chrono::seconds kWithin{10}, kFirst{1}, kLongest{60};
  using Time = core::Clock::time_point;
  // `has_one_guest`: it may serve many clients, so three deaths in sequence are no reason to make all of them wait.
  explicit Backoffs(bool has_one_guest = false) : most_in_a_row_(has_one_guest ? kMaxDeathsAlone : kMaxDeaths) {}

  // A worker ended in calls of these guests; none: the model is to blame. If several guests had calls there, each is
  // only a suspect: a successful compute clears it.
  void AddDeath(std::span<const uint64_t> guests, Time now);
  void Clear(uint64_t guest);
  // How long this guest, or all guests (0), must wait.
  std::optional<std::chrono::milliseconds> Left(uint64_t guest, Time now) const;
  size_t most_in_a_row(uint64_t guest) const { return guest == 0 ? kMaxDeaths : most_in_a_row_; }
  // Whether any guest is under suspicion.
  bool any() const { return !of_guests_.empty(); }

 private:
  struct Backoff {
    std::deque<Time> deaths, deaths_alone;
    Time until;
    std::chrono::seconds length{0};
    void Add(Time now, size_t most_in_a_row, bool is_alone);
  };
  void Forget(Time now);

  const size_t most_in_a_row_;  // for one guest
  Backoff of_all_;
  std::map<uint64_t, Backoff> of_guests_;
};

}  // namespace wasinn::isolation
