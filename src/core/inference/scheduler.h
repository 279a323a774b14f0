// Limits how many computes run at once. Each needs processors, and memory for its intermediate values: further ones
// wait here, on their own threads, and use nothing. But each model may always run one compute, so that a model that
// hangs holds up no other.
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

// Thread-safe. If there is room, coming in and leaving take two atomic operations each, no lock and no clock.
class Scheduler {
 public:
  // A guest's: waiting guests have turns by their weights, however many threads of each wait.
  using Share = core::Share;
  // How many turns an account, or a model, has here now.
  using Count = std::atomic<uint32_t>;

  // A thread that may have to wait. It has one wait at a time, and outlives it.
  class Waiter {
   public:
    // From any thread, at any time: a current wait ends without a turn. Does not block.
    void Cancel() {
      uint32_t waiting = kWaiting;
      if (state_.compare_exchange_strong(waiting, kCancelled, std::memory_order_acq_rel)) state_.notify_one();
    }

   private:
    friend class Scheduler;
    static constexpr uint32_t kIdle = 0, kWaiting = 1, kTurn = 2, kCancelled = 3;
    // Counts that were looked up before.
    struct Known {
      const Scheduler* scheduler = nullptr;
      const void* account = nullptr;
      std::shared_ptr<Count> count;
    };
    std::array<Known, 2> known_;  // one for its model, one for the host
    std::atomic<uint32_t> state_{kIdle};
    // Guarded by the scheduler's mutex.
    const Share* share_ = nullptr;
    Count* count_ = nullptr;
    Count* of_model_ = nullptr;
    FairOrder::Place place_ = 0;
    bool beyond_ = false;  // the turn exceeds the limit by one
  };

  // The most turns of `most` that one account may have: a quarter is left for others, and at least `least` of several.
  static uint32_t AllButAQuarter(uint32_t most, uint32_t least) {
    return most < 2 ? most : most - std::max(most / 4, least);
  }
  // `of_one`: the most turns of one account. `name` is for messages, and outlives the scheduler.
  Scheduler(uint32_t most, uint32_t of_one, const char* name)
      : most_(std::min(most, kSomeoneWaits - 1)), of_one_(std::min(of_one, most_)), name_(name) {}
  explicit Scheduler(uint32_t most, const char* name = "") : Scheduler(most, AllButAQuarter(most, 1), name) {}
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // The right to run. The constructor waits for it, the destructor gives it back.
  class Turn {
   public:
    // `of_model`: where the model's turns are counted; it outlives this. NULL: the model has no turns of its own.
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
  // The number of current turns, and of threads that wait for one.
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
  // Whether the model has no turn: then it gets one beyond the limit.
  static bool TryBeyond(Count* of_model) {
    uint32_t none = 0;
    return of_model != nullptr && of_model->compare_exchange_strong(none, 1, std::memory_order_acq_rel);
  }
  static void CountModel(Count* of_model) {
    if (of_model != nullptr) of_model->fetch_add(1, std::memory_order_relaxed);
  }
  // After false, Wait or LetOthersIn must correct what another thread of its account saw in `count`.
  bool TryEnter(Count& count, Count* of_model) {
    if (!TryCount(count)) return false;
    uint32_t state = state_.load(std::memory_order_relaxed);
    // Waiting threads go first: the mark makes the number too large.
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
  std::atomic<uint32_t> state_{0};  // the number of current turns, and kSomeoneWaits
  mutable std::mutex mutex_;        // guards the members below, and setting the mark
  Waiters waiting_;                 // in order of arrival
  FairOrder order_;
  std::map<const void*, std::shared_ptr<Count>> counts_;  // by account
  size_t look_at_ = 64;                                   // at this size, unused counts are removed
};

}  // namespace wasinn::core
