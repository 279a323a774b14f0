// Shapes that kernels accept without a check, and crash on.
#pragma once

#include <memory>

#include "tflite/interpreter.h"
#include "tflite/model_scan.h"
#include "tflite/tflite_library.h"

namespace wasinn::tflite {

// Call it after AllocateTensors and before a run: `interpreter` has no delegates, so it knows the shape of every value.
// Convolutions and pools divide by zero if an input is smaller than the window, has no channels, or the channels do not
// fit the filter. Throws WASINN_ERROR_INVALID_ARGUMENT that names the tensor.
void CheckShapes(const Interpreter& interpreter, const ModelScan& scan);

using OperatorPtr = std::unique_ptr<TfLiteOperator, void (*)(TfLiteOperator*)>;

// XNNPACK computes the operator and believes the shapes in the file. This one computes nothing, but refuses shapes that
// do not fit together, so that an interpreter without XNNPACK can check a model. NULL if the library has no such
// interface. Outlives the interpreters that use it.
OperatorPtr NewDeconvolutionCheck(const TfLiteLibrary& library);

}  // namespace wasinn::tflite
