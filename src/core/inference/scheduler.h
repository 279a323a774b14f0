// Limits how many computes run at once. Each needs processors, and memory for its intermediate values: further ones
// wait here, on their own threads or without one, and use nothing. But each model may always run one compute, so that a
// model that hangs holds up no other.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <vector>

#include "core/inference/fair_order.h"

namespace wasinn::core {

// Thread-safe. If there is room, coming in and leaving take one atomic operation each, no lock and no clock.
class Scheduler {
  struct Cell;
  struct Line;
  // A turn. All three are NULL: there is none.
  struct Held {
    Cell* cell = nullptr;           // NULL: the turn is in listed_
    const void* account = nullptr;  // NULL: the turn exceeds the limit by one
    const void* model = nullptr;    // NULL: it has no turns of its own
    bool operator==(const Held&) const = default;
    explicit operator bool() const { return *this != Held(); }
  };

 public:
  // A guest's: waiting guests have turns by their weights, however many threads of each wait.
  using Share = core::Share;

  // Notified, instead of a thread, of the end of a wait: with a turn or cancelled. It must neither block nor call a
  // scheduler.
  using Notify = std::function<void(bool has_turn)>;

  // A thread that may have to wait, or work without one. It has one wait at a time, and outlives it. Schedulers outlive
  // its last one.
  class Waiter {
   public:
    // From any thread, at any time: a current wait ends without a turn. Does not block. Before a wait without a thread
    // begins, a cancel of the last one has returned.
    void Cancel() {
      uint32_t waiting = kWaiting;
      if (state_.compare_exchange_strong(waiting, kCancelled, std::memory_order_acq_rel)) Wake(false);
    }

   private:
    friend class Scheduler;
    void Wake(bool has_turn) {
      if (const Notify* const notify = notify_.load(std::memory_order_relaxed)) return (*notify)(has_turn);
      state_.notify_one();
    }
    static constexpr uint32_t kIdle = 0, kWaiting = 1, kTurn = 2, kCancelled = 3;
    std::array<Cell*, 2> last_{};  // that it had: one of its model's scheduler, one of the host's
    std::atomic<uint32_t> state_{kIdle};
    std::atomic<const Notify*> notify_{nullptr};  // NULL: a thread waits, and may begin its next wait during a cancel
    // Guarded by the scheduler's mutex.
    const Share* share_ = nullptr;
    const void* model_ = nullptr;
    Held held_;
    std::list<Line>::iterator line_;      // while it waits
    std::list<Waiter*>::iterator place_;  // in the line
  };

  // The most turns of `most` that one account may have: a quarter is left for others, and at least `least` of several.
  static uint32_t AllButAQuarter(uint32_t most, uint32_t least) {
    return most < 2 ? most : most - std::max(most / 4, least);
  }
  // `of_one`: the most turns of one account. `name` is for messages, and outlives the scheduler.
  Scheduler(uint32_t most, uint32_t of_one, const char* name)
      : most_(most), of_one_(std::min(of_one, most)), name_(name) {}
  explicit Scheduler(uint32_t most, const char* name = "") : Scheduler(most, AllButAQuarter(most, 1), name) {}
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // The right to run. The constructor waits for it, the destructor gives it back.
  class Turn {
   public:
    // `model`: the address of the compute's model, which may always have one turn. NULL: it may not.
    Turn(Scheduler& scheduler, const Share& share, Waiter& waiter, const void* model = nullptr)
        : scheduler_(scheduler), held_(scheduler.Enter(share, waiter, model)) {}
    // None yet.
    explicit Turn(Scheduler& scheduler) : scheduler_(scheduler) {}
    ~Turn() {
      if (held_.cell != nullptr) [[likely]] {
        scheduler_.Leave(*held_.cell, held_.model);
      } else if (held_) {
        scheduler_.LeaveListed(held_);
      }
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    // False: it was cancelled.
    explicit operator bool() const { return static_cast<bool>(held_); }

    // Takes one, as the constructor, if there is one now. Else a wait without a thread begins: `notify`, which outlives
    // it, is called once, perhaps on another thread before this returns. Then, elsewhere, EndWait must be called.
    bool TakeOrWait(const Share& share, Waiter& waiter, const void* model, const Notify& notify) {
      if (Cell* const cell = scheduler_.TakeAtOnce(share.account(), model, waiter)) {
        held_ = {cell, share.account(), model};
        return true;
      }
      scheduler_.BeginWait(share, waiter, model, &notify);
      return false;
    }
    void EndWait(Waiter& waiter) { held_ = scheduler_.EndWait(waiter); }
    Scheduler& scheduler() const { return scheduler_; }

   private:
    Scheduler& scheduler_;
    Held held_;
  };

  uint32_t most() const { return most_; }
  uint32_t of_one() const { return of_one_; }
  const char* name() const { return name_; }
  // The number of current turns within the limit, and of threads that wait for one.
  size_t running() const;
  size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return n_waiting_;
  }

 private:
  // The waiters of one guest, in order of arrival.
  struct Line {
    FairOrder::Place place;
    const Share& share;
    std::list<Waiter*> waiters;
    std::map<const void*, size_t> models;  // how many wait for each, so that others need not look at all of them
  };
  using Lines = std::list<Line>;

  // One of the turns that are taken without a lock: at most of_one_, so that no account has more. There are as many as
  // were ever needed, each on a cache line of its own.
  struct alignas(64) Cell {
    Cell(const Scheduler& its_scheduler, Cell* its_next) : scheduler(its_scheduler), next(its_next) {}
    bool Take(const void* its_account, const void* its_model) {
      const void* none = nullptr;
      if (account.load(std::memory_order_relaxed) != none || !account.compare_exchange_strong(none, its_account)) {
        return false;
      }
      model.store(its_model, std::memory_order_release);
      return true;
    }
    void Free() {
      model.store(nullptr, std::memory_order_relaxed);
      account.store(nullptr, std::memory_order_seq_cst);
    }

    std::atomic<const void*> account{nullptr};  // NULL: free
    std::atomic<const void*> model{nullptr};
    const Scheduler& scheduler;
    Cell* const next;
  };

  Held Enter(const Share& share, Waiter& waiter, const void* model) {
    const void* const account = share.account();
    if (Cell* const cell = TakeAtOnce(account, model, waiter)) [[likely]]
      return {cell, account, model};
    return Wait(share, waiter, model);
  }
  // A thread that waits, or counts turns, has set the mark before it looks at the cells: either it sees this turn, or
  // this thread sees the mark.
  Cell* TakeAtOnce(const void* account, const void* model, Waiter& waiter) {
    Cell* const cell = locked_ == 0 ? TakeCell(account, model, waiter) : nullptr;
    if (cell == nullptr || locked_ == 0) [[likely]]
      return cell;
    Leave(*cell, model);
    return nullptr;
  }
  Cell* TakeCell(const void* account, const void* model, Waiter& waiter) {
    for (Cell* const last : waiter.last_) {
      if (last != nullptr && &last->scheduler == this && last->Take(account, model)) return last;
    }
    return TakeOtherCell(account, model, waiter);
  }
  void Leave(Cell& cell, const void* model) {
    cell.Free();
    if (locked_ != 0) HandOver(model);
  }
  Cell* TakeOtherCell(const void* account, const void* model, Waiter& waiter);
  Held Wait(const Share& share, Waiter& waiter, const void* model);
  void BeginWait(const Share& share, Waiter& waiter, const void* model, const Notify* notify);
  Held EndWait(Waiter& waiter);
  void HandOver(const void* model);
  void LeaveListed(const Held& held);

  // The other functions need the lock.
  template <typename Counted>
  size_t Count(Counted counted) const;
  size_t Above() const;
  // The turns that can be given.
  struct Room {
    bool within_limit;
    const void* idle;            // a model that may have a turn beyond the limit; NULL: none
    const void* full = nullptr;  // an account that was found to have all its turns
    explicit operator bool() const { return within_limit || idle != nullptr; }
  };
  bool IsWithinLimit() const;
  Room RoomFor(const void* model) const;
  Held TakeFor(Waiter& waiter, Room& room);
  void GiveTurns(const void* model);
  bool TryGive(Waiter& waiter, Room& room);
  bool GiveOne(Room& room);
  static bool HasRoom(const Line& line, const Room& room);
  Lines::iterator LineOf(const Share& share, const void* model);
  // Behind all others of its place.
  Lines::iterator PositionOf(FairOrder::Place place);
  void TakeOut(const Waiter& waiter);
  void SetLocked();

  const uint32_t most_, of_one_;
  const char* const name_;
  std::atomic<Cell*> cells_{nullptr};
  std::atomic<size_t> locked_{0};  // not 0: turns are taken with the lock
  mutable std::mutex mutex_;       // guards the members below, and changes of those above
  uint32_t made_ = 0;              // cells
  std::vector<Held> listed_;       // turns that no cell holds
  Lines lines_;                    // in order of their places; none is empty
  size_t n_waiting_ = 0;           // in all lines
  FairOrder order_;
};

}  // namespace wasinn::core
