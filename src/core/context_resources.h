// What a context shares with others.
#pragma once

#include "core/copy.h"
#include "core/metrics/meter.h"
#include "core/scheduler.h"
#include "core/tensor_memory.h"
#include "core/watchdog.h"

namespace wasinn::core {

// All of it outlives the context.
struct ContextResources {
  TensorMemory memory;  // the quota also has what the backend keeps beside inputs and outputs
  Watchdog& watchdog;
  Scheduler& scheduler;     // of the host's computes
  Scheduler::Share& share;  // of its guest
  Meter::Of metered{};
  // Of a step of a pipeline: what is copied in and out counts there, where its pipeline's does. NULL: by itself.
  CopyCount* in = nullptr;
  CopyCount* out = nullptr;
  // Of a slot with contexts within: what measures the context that computes on it. NULL: nothing does.
  Meter* outer = nullptr;
};

}  // namespace wasinn::core
