// How many computes run at once. Each needs memory for its intermediate values, and processors: what is more than these
// can feed waits here, on its own thread, and takes nothing. But a model that computes nothing may always compute once: one
// that stands still holds up no other.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/inference/fair_order.h"

namespace wasinn::core {

// Any thread. If there is room, two atomic operations to come in and two to leave; no lock, no look at a clock.
class Scheduler {
 public:
  // Of a guest: guests that wait have turns by their weights, however many threads of each do.
  using Share = core::Share;
  // How many turns an account, or a model, has here now.
  using Count = std::atomic<uint32_t>;

  // Whoever may have to wait. One wait at a time; it outlives it.
  class Waiter {
   public:
    // From any thread, at any time: a wait that is under way ends without a turn. Does not block.
    void Cancel() {
      uint32_t waiting = kWaiting;
      if (state_.compare_exchange_strong(waiting, kCancelled, std::memory_order_acq_rel)) state_.notify_one();
    }

   private:
    friend class Scheduler;
    static constexpr uint32_t kIdle = 0, kWaiting = 1, kTurn = 2, kCancelled = 3;
    // The counts that were looked up before.
    struct Known {
      const Scheduler* scheduler = nullptr;
      const void* account = nullptr;
      std::shared_ptr<Count> count;
    };
    std::array<Known, 2> known_;  // among those of its model, and among the host's
    std::atomic<uint32_t> state_{kIdle};
    // Of the scheduler's mutex.
    const Share* share_ = nullptr;
    Count* count_ = nullptr;
    Count* of_model_ = nullptr;
    FairOrder::Place place_ = 0;
    bool beyond_ = false;  // the turn is one more than there are
  };

  // The most that one account may have of `most`: a quarter is left for others, and at least `least` of several.
  static uint32_t AllButAQuarter(uint32_t most, uint32_t least) {
    return most < 2 ? most : most - std::max(most / 4, least);
  }
  // `of_one`: the most turns of one account. `name` is for messages, and outlives it.
  Scheduler(uint32_t most, uint32_t of_one, const char* name)
      : most_(std::min(most, kSomeoneWaits - 1)), of_one_(std::min(of_one, most_)), name_(name) {}
  explicit Scheduler(uint32_t most, const char* name = "") : Scheduler(most, AllButAQuarter(most, 1), name) {}
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // The right to run, waited for if need be; held to its end.
  class Turn {
   public:
    // `of_model`: where the model's turns are counted; it outlives this. NULL: the model has no turn of its own.
    Turn(Scheduler& scheduler, const Share& share, Waiter& waiter, Count* of_model = nullptr)
        : scheduler_(scheduler),
          count_(scheduler.CountOf(share, waiter)),
          of_model_(of_model),
          granted_(Enter(share, waiter)) {}
    ~Turn() {
      if (!granted_) return;
      if (of_model_ != nullptr) of_model_->fetch_sub(1, std::memory_order_release);
      if (beyond_) {
        scheduler_.LetOthersIn(of_model_);
      } else {
        count_.fetch_sub(1, std::memory_order_release);
        if (!scheduler_.TryLeave()) scheduler_.HandOver(of_model_);
      }
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    // False: it was cancelled.
    explicit operator bool() const { return granted_; }

   private:
    bool Enter(const Share& share, Waiter& waiter) {
      if (scheduler_.TryEnter(count_, of_model_)) return true;
      beyond_ = TryBeyond(of_model_);
      if (beyond_) {
        scheduler_.LetOthersIn(nullptr);
        return true;
      }
      const bool granted = scheduler_.Wait(share, waiter, count_, of_model_);
      beyond_ = waiter.beyond_;
      return granted;
    }

    Scheduler& scheduler_;
    Count& count_;  // stays as long as it counts this one
    Count* const of_model_;
    bool beyond_ = false;
    const bool granted_;
  };

  uint32_t most() const { return most_; }
  uint32_t of_one() const { return of_one_; }
  const char* name() const { return name_; }
  // How many have a turn now, and how many wait for one.
  uint32_t running() const { return state_.load(std::memory_order_relaxed) & ~kSomeoneWaits; }
  size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }

 private:
  using Waiters = std::vector<Waiter*>;
  static constexpr uint32_t kSomeoneWaits = 1u << 31;

  Count& CountOf(const Share& share, Waiter& waiter) {
    for (const Waiter::Known& known : waiter.known_) {
      if (known.scheduler == this && known.account == share.account()) return *known.count;
    }
    return LookUp(share, waiter);
  }
  bool TryCount(Count& count) const {
    if (count.fetch_add(1, std::memory_order_acq_rel) < of_one_) return true;
    count.fetch_sub(1, std::memory_order_acq_rel);
    return false;
  }
  // Whether the model has no turn: then it has one more.
  static bool TryBeyond(Count* of_model) {
    uint32_t none = 0;
    return of_model != nullptr && of_model->compare_exchange_strong(none, 1, std::memory_order_acq_rel);
  }
  static void CountModel(Count* of_model) {
    if (of_model != nullptr) of_model->fetch_add(1, std::memory_order_relaxed);
  }
  // A thread that fails goes on to Wait or LetOthersIn, which put right what another thread of its account saw in `count` meanwhile.
  bool TryEnter(Count& count, Count* of_model) {
    if (!TryCount(count)) return false;
    uint32_t state = state_.load(std::memory_order_relaxed);
    // Who waits goes first: the mark makes the number too large.
    while (state < most_) {
      if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acquire, std::memory_order_relaxed)) {
        CountModel(of_model);
        return true;
      }
    }
    count.fetch_sub(1, std::memory_order_acq_rel);
    return false;
  }
  bool TryLeave() {
    uint32_t state = state_.load(std::memory_order_relaxed);
    while ((state & kSomeoneWaits) == 0) {
      if (state_.compare_exchange_weak(state, state - 1, std::memory_order_release, std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  Count& LookUp(const Share& share, Waiter& waiter);
  bool Wait(const Share& share, Waiter& waiter, Count& count, Count* of_model);
  // `of_model`, if given, has one turn less.
  void HandOver(const Count* of_model);
  void LetOthersIn(const Count* of_model);
  void GivePlaces(const Count* of_model);
  bool GivePlace();
  bool MayHaveOne(const Waiter& waiter) const;
  bool TryGive(Waiter& waiter);
  Waiters::iterator NextAfter(Waiters::iterator last);
  void RestIfEmpty();

  const uint32_t most_, of_one_;
  const char* const name_;
  std::atomic<uint32_t> state_{0};  // how many run, and kSomeoneWaits
  mutable std::mutex mutex_;        // of what follows, and of setting the mark
  Waiters waiting_;                 // in the order in which they came
  FairOrder order_;
  std::map<const void*, std::shared_ptr<Count>> counts_;  // by account
  size_t look_at_ = 64;                                   // as many are there: then those that nobody has go
};

}  // namespace wasinn::core
