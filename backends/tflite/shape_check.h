// Shapes that kernels take without a check, and die of.
#pragma once

#include <memory>

#include "tflite/interpreter.h"
#include "tflite/model_scan.h"
#include "tflite/tflite_library.h"

namespace wasinn::tflite {

// After AllocateTensors and before a run: `interpreter` has no delegates, so that it knows the shape of every value.
// Convolutions and pools divide by zero where an input is smaller than the window, has no channels, or where the
// channels do not fit the filter. Throws WASINN_ERROR_INVALID_ARGUMENT that names the tensor.
void CheckShapes(const Interpreter& interpreter, const ModelScan& scan);

using OperatorPtr = std::unique_ptr<TfLiteOperator, void (*)(TfLiteOperator*)>;

// XNNPACK computes the operator and believes the shapes that the file says. This one computes nothing, but refuses
// shapes that do not belong together, so that an interpreter without XNNPACK can be asked whether a model is sound.
// NULL where the library takes no operators. Outlives the interpreters that it is given to.
OperatorPtr NewDeconvolutionCheck(const TfLiteLibrary& library);

}  // namespace wasinn::tflite
