// One inference that waits for others, to compute together with them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/batching/signal.h"
#include "core/inference/fair_order.h"
#include "core/inference/request.h"
#include "core/inference/shared_tensor.h"

namespace wasinn::core {

struct Batch;

struct BatchOutput {
  std::string name;
  TensorPtr tensor;  // null where it was not wanted
};

struct BatchItem {
  // What its session says, and nobody changes until it has its outcome. Inputs are read while it is kRead alone.
  std::span<const Input> inputs;
  std::vector<uint32_t> wanted;  // outputs; none: all
  std::string shape;             // what inferences of one batch have in common
  uint32_t rows = 0;
  const Share* share = nullptr;
  uint64_t pool_user = 0;  // whose memory its outputs are
  uint64_t max_bytes = 0;  // that its compute may allocate; 0: no limit
  Clock::time_point late;  // when half of its time has passed; max: it has no deadline

  // Of the queue's mutex.
  enum class State : uint8_t { kWaits, kRead, kComputes, kDone };
  std::atomic<State> state{State::kWaits};  // kDone is the last, and seen without the mutex
  bool cancelled = false;
  bool left = false;        // nobody waits for it any more
  bool alone = false;       // its outcome: it is to be computed by itself
  Clock::time_point begun;  // when its batch had its turn
  uint32_t batch_rows = 0;  // of its batch, which it counts; 0: another item does
  FairOrder::Place place = 0;
  Clock::time_point since;
  Clock::time_point looks = Clock::time_point::min();  // when its wait looks again, though nothing has changed
  Batch* batch = nullptr;                              // that it is in while it is kRead or kComputes
  // Of all that its wait looks at something has changed. Not under the mutex, which who wakes would wait for.
  Signal changed;

  // For the next time, while it is nobody else's.
  void Begin() {
    state = State::kWaits;
    cancelled = left = alone = false;
    batch_rows = 0;
    looks = Clock::time_point::min();
    batch = nullptr;
  }

  std::vector<BatchOutput> outputs;  // of who computes it, until it is kDone
};

using BatchItemPtr = std::shared_ptr<BatchItem>;

}  // namespace wasinn::core
