// Decides who is next among the guests that wait for one thing: guests have turns in proportion to their weights,
// however many threads of each wait (start-time fair queueing).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace wasinn::core {

// A guest's share, for fairness. It outlives the guest's turns.
class Share {
 public:
  static constexpr uint32_t kMaxWeight = 1000;
  // A guest of weight 3 has three turns for each turn of a guest of weight 1. From 1 to kMaxWeight. `guest` is its
  // number in its host; 0: the host's own work. `account`: the same address for all guests of a tenant, which it
  // outlives; NULL: a guest without a tenant.
  explicit Share(uint32_t weight = 1, uint64_t guest = 0, const void* account = nullptr)
      : weight_(weight), guest_(guest), account_(account) {}
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;
  uint32_t weight() const { return weight_; }
  uint64_t guest() const { return guest_; }
  const void* account() const { return account_ != nullptr ? account_ : this; }

 private:
  const uint32_t weight_;
  const uint64_t guest_;
  const void* const account_;
};

// One thread at a time. Places are times of a clock that advances with what was served. The least place is next; the
// caller decides between equal ones.
class FairOrder {
 public:
  using Place = uint64_t;
  // The place of a guest that arrives: behind all that wait, or after its own last turn.
  Place Arrive(const Share& share) const noexcept {
    const Served& last = served_[IndexOf(share)];
    return last.key == KeyOf(share) ? std::max(now_, last.next) : now_;
  }
  // A guest at `place` is served `units`. Returns the place of its other requests that wait.
  Place Serve(const Share& share, Place place, uint64_t units = 1) noexcept {
    now_ = std::max(now_, place);
    const Served served{KeyOf(share), place + kUnit * units / share.weight()};
    latest_ = std::max(latest_, served.next);
    served_[IndexOf(share)] = served;
    return served.next;
  }

  // No guest waits: the next one is behind no other.
  void Rest() noexcept { now_ = latest_; }

 private:
  static constexpr Place kUnit = 1 << 20;
  // If two guests share a slot of the table, only the one that was served last is known: the other may be early.
  static constexpr size_t kKept = 256;
  struct Served {
    uint64_t key = 0;
    Place next = 0;
  };
  // A guest's key is its number, because addresses are reused. Numbers become odd keys, addresses are even.
  static uint64_t KeyOf(const Share& share) noexcept {
    return share.guest() != 0 ? share.guest() << 1 | 1 : reinterpret_cast<uintptr_t>(&share);
  }
  static size_t IndexOf(const Share& share) noexcept {
    return (KeyOf(share) * 0x9e3779b97f4a7c15) >> 56;  // Fibonacci hashing, to 8 bits
  }

  Place now_ = 0;     // of the last guest that was served
  Place latest_ = 0;  // the latest place of a served guest's other requests
  std::array<Served, kKept> served_{};
};

}  // namespace wasinn::core
