// Inferences on one model that wait to be computed together: which of them are next, and how long they wait for others.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "core/batching/batch_item.h"
#include "core/batching/batching.h"
#include "core/batching/suspects.h"
#include "core/batching/usual_times.h"
#include "core/inference/fair_order.h"

namespace wasinn::core {

struct Batch {
  std::vector<BatchItemPtr> items;
  uint32_t rows = 0;
  // Of the queue's mutex.
  std::function<void()> cancel;  // while it computes: makes that end soon
  size_t left = 0;               // items that nobody waits for any more
  Clock::time_point since;
  Clock::time_point late = Clock::time_point::max();  // so long no batch of this kind takes
};

// Any thread.
class BatchQueue {
 public:
  // `most`: how many batches are computed at once.
  BatchQueue(const Batching& batching, uint32_t most, Clock clock = {});
  BatchQueue(const BatchQueue&) = delete;
  BatchQueue& operator=(const BatchQueue&) = delete;

  // ---- Who brings inferences

  // True where nobody waits and a place is free: what comes is computed at once, by itself, in the life of this.
  class Alone {
   public:
    explicit Alone(BatchQueue& queue) : queue_(queue), begun_(queue.TryBeginAlone()) {}
    ~Alone() {
      if (begun_) queue_.EndAlone();
    }
    Alone(const Alone&) = delete;
    Alone& operator=(const Alone&) = delete;
    explicit operator bool() const { return begun_; }

   private:
    BatchQueue& queue_;
    const bool begun_;
  };

  enum class Outcome : uint8_t { kDone, kAlone, kCancelled };
  // Until the item was computed. kAlone: it is to be computed by itself, for its batch failed, or takes too long. Its batch may
  // still have it then, and give it outputs.
  Outcome Wait(const BatchItemPtr& item);
  // The wait ends soon, also one that begins later.
  void Cancel(BatchItem& item);

  bool IsSuspect(const Share& share) const;
  // How an inference of this shape has ended that was computed by itself after its batch had failed, and how long it took.
  void NoteAlone(const Share& share, const std::string& shape, uint32_t rows, bool ok, Clock::duration took);

  // ---- Who computes them

  // Until somebody waits, and none of those who are in Next is free. False: the queue has stopped.
  bool WaitForNeed();
  // Waits for a batch. None: the queue has stopped.
  std::unique_ptr<Batch> Next();
  // The bytes of its inputs are not needed any more: who brought them may go. `cancel` may be called until End, which
  // waits for it.
  void SetRead(Batch& batch, std::function<void()> cancel);
  // It has its turn.
  void SetBegun(Batch& batch);
  // All of it has its outcome, and nothing is in it any more.
  void End(Batch& batch, bool ok) noexcept;
  void Stop();

  size_t waiting() const;  // items
  size_t idle() const;     // threads in Next that have nothing to compute, or no place for it
  const Clock& clock() const { return clock_; }

 private:
  bool TryBeginAlone();
  void EndAlone();

  // Whoever is counted in `idle_` looks at the queue when it wakes.
  std::condition_variable& NextToWake() { return idle_ > 0 ? wake_ : more_; }

  bool has_place() const { return computing_ + alone_ < most_; }

  void Add(const BatchItemPtr& item);
  std::optional<Outcome> Look(const BatchItemPtr& item, Clock::time_point& until);

  // Of `mutex_`.
  uint32_t PreferredWithin(uint32_t rows) const;
  struct Choice {
    const BatchItem* one;
    uint32_t rows;
  };
  // Of one shape.
  struct Waiting {
    const BatchItem* first;  // by its guest's turn
    Clock::time_point oldest;
    uint64_t rows = 0;
  };
  std::optional<uint32_t> RowsOf(const Waiting& shape, Clock::time_point now, Clock::time_point& later) const;
  std::optional<Choice> Choose(Clock::time_point now, Clock::time_point& later) const;
  std::unique_ptr<Batch> TakeNext(const Choice& choice);
  void GiveUpFirst();
  static void SetDone(BatchItem& item, bool alone);
  bool TakeOne(Batch& batch, const std::string& shape, uint32_t rows);
  void Remove(const BatchItemPtr& item);
  static void Leave(BatchItem& item);

  const Batching batching_;
  const uint32_t most_, smallest_full_;
  const Clock clock_;
  mutable std::mutex mutex_;             // of what follows
  std::condition_variable wake_, more_;  // of Next and of WaitForNeed
  bool stopping_ = false;
  std::vector<BatchItemPtr> waiting_;  // in the order in which they came
  uint64_t rows_ = 0;                  // of those
  FairOrder order_;
  uint32_t computing_ = 0, alone_ = 0, idle_ = 0;
  UsualTimes times_;
  Suspects suspects_;
};

}  // namespace wasinn::core
