// Moves a thread of a worker to a processor.
#pragma once

#include <sched.h>

#include <cstdint>

#include "core/isolation/protocol.h"

namespace wasinn::worker {

// For the thread that made it; no other may use it.
class Processor {
 public:
  Processor();

  // Moves to one, or with kAnyProcessor to all on which the thread could run at first. It is a hint: if the system
  // refuses, nothing changes.
  void MoveTo(uint32_t number);

 private:
  cpu_set_t first_{};
  bool knows_first_ = false;
  uint32_t now_ = isolation::kAnyProcessor;
};

}  // namespace wasinn::worker
