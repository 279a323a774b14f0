// On which processor a thread of a worker runs.
#pragma once

#include <sched.h>

#include <cstdint>

#include "core/isolation/protocol.h"

namespace wasinn::worker {

// Of the thread that made it, which alone uses it.
class Processor {
 public:
  Processor();

  // To one, or with kAnyProcessor to wherever the thread might run at first. It is a hint: where the system refuses, the thread
  // stays as it is.
  void MoveTo(uint32_t number);

 private:
  cpu_set_t first_{};
  bool knows_first_ = false;
  uint32_t now_ = isolation::kAnyProcessor;
};

}  // namespace wasinn::worker
