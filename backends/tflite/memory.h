// The memory of an interpreter, which TensorFlow Lite's C API does not report.
#pragma once

#include <cstdint>

#include "common/dtype.h"
#include "tflite/interpreter.h"
#include "tflite/model_scan.h"

namespace wasinn::tflite {

// In bytes; UINT64_MAX: too many to count.
struct MemoryPlan {
  uint64_t arenas = 0;   // two blocks: for values, and for data that lasts from one run to the next
  uint64_t lent = 0;     // inputs and outputs in buffers of the host
  uint64_t dynamic = 0;  // values that each run allocates separately, until the next one
  uint64_t hidden = 0;   // about the values inside of a delegate's part, which are in the delegate's memory

  uint64_t all() const { return backend::AddSat(lasting(), backend::AddSat(lent, dynamic)); }
  // The memory that lasts as long as the interpreter, without inputs and outputs.
  uint64_t lasting() const { return backend::AddSat(arenas, hidden); }
};

// For an interpreter that has allocated its tensors. All zeros if the library does not show them.
MemoryPlan PlanOf(const Interpreter& interpreter, const ModelScan& scan);
// The same: whether a tensor's shape is only known after a run, since an operator computes it from values.
bool HasShapesByValue(const Interpreter& interpreter, const ModelScan& scan);

}  // namespace wasinn::tflite
