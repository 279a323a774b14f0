// Shapes that TensorFlow Lite's kernels take without a check, and die of.
#pragma once

#include "tflite/interpreter.h"
#include "tflite/model_scan.h"

namespace wasinn::tflite {

// After AllocateTensors and before a run: `interpreter` has no delegates, so that it knows the shape of every value.
// Convolutions and pools divide by zero where an input is smaller than the window, has no channels, or where the
// channels do not fit the filter. Throws WASINN_ERROR_INVALID_ARGUMENT that names the tensor.
void CheckShapes(const Interpreter& interpreter, const ModelScan& scan);

}  // namespace wasinn::tflite
