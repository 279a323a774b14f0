// One inference that waits for others, to be computed together with them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/inference/fair_order.h"
#include "core/inference/request.h"
#include "core/inference/shared_tensor.h"
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

}  // namespace wasinn::core
