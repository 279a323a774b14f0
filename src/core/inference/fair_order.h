// Who is next of those who wait for something of which there is one at a time: guests have turns in proportion to their
// weights, however many threads of each wait (start-time fair queueing).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace wasinn::core {

// Stands for a guest, for fairness. It outlives the guest's turns.
class Share {
 public:
  static constexpr uint32_t kMostWeight = 1000;
  // A guest of weight 3 has three turns for each one of a guest of weight 1. From 1 to kMostWeight.
  // `guest` is its number in its host; 0: what the host does by itself. `account`: the same address for all guests of a
  // tenant, which outlives them; NULL: a guest alone.
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

// One thread at a time. Places are times of a clock that goes on by what was served: who has the least is next.
// equals who came first.
class FairOrder {
 public:
  using Place = uint64_t;
  // The place of a guest that comes: behind all who wait, or where its last turn has put it.
  Place Arrive(const Share& share) const noexcept {
    const Served& last = served_[IndexOf(share)];
    return last.key == KeyOf(share) ? std::max(now_, last.next) : now_;
  }
  // A guest that had `place` is served `units`. Returns the place of whatever else it waits with.
  Place Serve(const Share& share, Place place, uint64_t units = 1) noexcept {
    now_ = std::max(now_, place);
    const Served served{KeyOf(share), place + kUnit * units / share.weight()};
    latest_ = std::max(latest_, served.next);
    served_[IndexOf(share)] = served;
    return served.next;
  }

  // Nobody waits: who comes next is behind nobody.
  void Rest() noexcept { now_ = latest_; }

 private:
  static constexpr Place kUnit = 1 << 20;
  // Of two guests that fall on the same one, the one that was served last is known: the other may come a turn early.
  static constexpr size_t kKept = 256;
  struct Served {
    uint64_t key = 0;
    Place next = 0;
  };
  // Addresses are reused, and numbers of guests are not. They are odd here, and addresses even.
  static uint64_t KeyOf(const Share& share) noexcept {
    return share.guest() != 0 ? share.guest() << 1 | 1 : reinterpret_cast<uintptr_t>(&share);
  }
  static size_t IndexOf(const Share& share) noexcept {
    return (KeyOf(share) * 0x9e3779b97f4a7c15) >> 56;  // Fibonacci hashing, to 8 bits
  }

  Place now_ = 0;     // of who was served last
  Place latest_ = 0;  // that anybody who was served had for what else it waits with
  std::array<Served, kKept> served_{};
};

}  // namespace wasinn::core
