// The memory of an interpreter, which TensorFlow Lite's C API does not tell.
#pragma once

#include <cstdint>

#include "common/dtype.h"
#include "tflite/interpreter.h"
#include "tflite/model_scan.h"

namespace wasinn::tflite {

// In bytes; UINT64_MAX: too many to count.
struct MemoryPlan {
  uint64_t arenas = 0;   // two blocks: of values, and of what lasts from one run to the next
  uint64_t lent = 0;     // inputs and outputs in buffers of ours
  uint64_t dynamic = 0;  // values that a run allocates, each for itself, until the next one
  uint64_t hidden = 0;   // values within what a delegate computes, which lie in memory of its own: about

  uint64_t all() const { return backend::AddSat(lasting(), backend::AddSat(lent, dynamic)); }
  // What stays with the interpreter as long as it lives, less what is an input or output.
  uint64_t lasting() const { return backend::AddSat(arenas, hidden); }
};

// Of an interpreter that has allocated its tensors. All zeros where the library does not show them.
MemoryPlan PlanOf(const Interpreter& interpreter, const ModelScan& scan);
// Likewise: whether a tensor has a shape that only a run tells, since an operator makes it of values.
bool HasShapesByValue(const Interpreter& interpreter, const ModelScan& scan);

}  // namespace wasinn::tflite
