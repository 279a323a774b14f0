// The inferences on one model that wait to be computed together: which are next, and how long they wait for others.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "core/batching/batch_item.h"
#include "core/batching/suspicion.h"
#include "core/inference/fair_order.h"
#include "core/models/model_options.h"

namespace wasinn::core {

struct Batch {
  std::vector<BatchItemPtr> items;
  uint32_t rows = 0;
  // Guarded by the queue's mutex.
  std::function<void()> cancel;  // while it computes: makes the compute end soon
  size_t left = 0;               // items that no thread waits for any more
  Clock::time_point since;
  Clock::time_point late = Clock::time_point::max();  // no batch of this kind takes longer
};

// Thread-safe.
class BatchQueue {
 public:
  // At most `most` batches compute at once.
  BatchQueue(const Batching& batching, uint32_t most, Clock clock = {});
  BatchQueue(const BatchQueue&) = delete;
  BatchQueue& operator=(const BatchQueue&) = delete;

  // ---- For threads that bring inferences

  // True if no item waits and a place is free: the inference is computed at once, by itself, while this object lives.
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
  // Waits until the item was computed. kAlone: the caller must compute it by itself, because its batch failed or takes
  // too long. The batch may still have the item then, and give it outputs.
  Outcome Wait(const BatchItemPtr& item);
  // Ends the wait soon, even one that begins later.
  void Cancel(BatchItem& item);

  bool IsSuspect(const Share& share) const;
  // Reports the outcome and the time of an inference that was computed by itself after its batch had failed.
  void NoteAlone(const Share& share, const std::string& shape, uint32_t rows, bool ok, Clock::duration took);

  // ---- For threads that compute batches

  // Waits until an item waits and no thread in Next is free. False: the queue has stopped.
  bool WaitForNeed();
  // Waits for a batch. NULL: the queue has stopped.
  std::unique_ptr<Batch> Next();
  // The inputs' bytes are not needed any more: the threads that brought them may leave. `cancel` may be called until
  // End, which waits for it.
  void SetRead(Batch& batch, std::function<void()> cancel);
  // The batch has got its turn.
  void SetBegun(Batch& batch);
  // Every item gets its outcome, and the batch becomes empty.
  void End(Batch& batch, bool ok) noexcept;
  void Stop();

  size_t waiting() const;  // items
  size_t idle() const;     // threads in Next without a batch or a place for it
  const Clock& clock() const { return clock_; }

 private:
  bool TryBeginAlone();
  void EndAlone();

  // A thread that is counted in `idle_` looks at the queue when it wakes.
  std::condition_variable& NextToWake() { return idle_ > 0 ? wake_ : more_; }

  bool has_place() const { return computing_ + alone_ < most_; }

  void Add(const BatchItemPtr& item);
  std::optional<Outcome> Look(const BatchItemPtr& item, Clock::time_point& until);

  // `mutex_` must be held.
  uint32_t PreferredWithin(uint32_t rows) const;
  struct Choice {
    const BatchItem* one;
    uint32_t rows;
  };
  // The items of one shape.
  struct Waiting {
    const BatchItem* first;  // by the order of guests' turns
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
  mutable std::mutex mutex_;             // guards the members below
  std::condition_variable wake_, more_;  // for Next, and for WaitForNeed
  bool stopping_ = false;
  std::vector<BatchItemPtr> waiting_;  // in order of arrival
  uint64_t rows_ = 0;                  // of all items in waiting_
  FairOrder order_;
  uint32_t computing_ = 0, alone_ = 0, idle_ = 0;
  UsualTimes times_;
  Suspects suspects_;
};

}  // namespace wasinn::core
