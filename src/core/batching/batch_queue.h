// The inferences on one model that wait to be computed together: which are next, and how long they wait for others.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/batching/suspicion.h"
#include "core/inference/fair_order.h"
#include "core/inference/session.h"
#include "core/inference/shared_tensor.h"
#include "core/models/model_options.h"
#include "core/runtime/clock.h"

namespace wasinn::core {

// Any number of threads raise it, one waits. A thread that raises it must know that it still exists. Not
// std::binary_semaphore: with a deadline, GCC's library polls it, after pauses that grow to 64 ms.
class Signal {
 public:
  void Raise() {
    {
      const std::lock_guard lock(mutex_);
      raised_ = true;
    }
    changed_.notify_one();
  }
  // Waits until it is raised; returns at once if it was raised since the last wait.
  void WaitUntil(Clock::time_point until, const Clock& clock) {
    std::unique_lock lock(mutex_);
    while (!raised_ && clock.now() < until) clock.Wait(changed_, lock, until);
    raised_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool raised_ = false;
};

struct Batch;

struct BatchOutput {
  std::string name;
  TensorPtr tensor;  // null if it was not wanted
};

struct BatchItem {
  // Set by the item's session, and constant until the outcome. Inputs are read only while the state is kRead.
  std::span<const Input> inputs;
  std::vector<uint32_t> wanted;  // indices of outputs; none: all
  std::string shape;             // equal for all inferences of one batch
  uint32_t rows = 0;
  const Share* share = nullptr;
  uint64_t pool_user = 0;  // owner of the outputs' memory
  uint64_t max_bytes = 0;  // that the compute may allocate; 0: no limit
  Clock::time_point late;  // when half of its time has passed; max: no deadline

  // Guarded by the queue's mutex.
  enum class State : uint8_t { kWaits, kRead, kComputes, kDone };
  std::atomic<State> state{State::kWaits};  // kDone is the last state, and is read without the mutex
  bool cancelled = false;
  bool left = false;        // no thread waits for it any more
  bool alone = false;       // its outcome: it must be computed by itself
  Clock::time_point begun;  // when its batch got its turn
  uint32_t batch_rows = 0;  // rows of its batch, which this item counts; 0: another item does
  FairOrder::Place place = 0;
  Clock::time_point since;
  Clock::time_point looks = Clock::time_point::min();  // when its wait checks again, even if nothing has changed
  Batch* batch = nullptr;                              // its batch while it is kRead or kComputes
  // Raised if anything that the item's wait depends on has changed. Not under the mutex, which the woken thread needs.
  Signal changed;

  // Resets the item for its next inference. No other thread may have it.
  void Begin() {
    state = State::kWaits;
    cancelled = left = alone = false;
    batch_rows = 0;
    looks = Clock::time_point::min();
    batch = nullptr;
  }

  std::vector<BatchOutput> outputs;  // written by the thread that computes it, until it is kDone
};

using BatchItemPtr = std::shared_ptr<BatchItem>;

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
