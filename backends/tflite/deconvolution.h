// MediaPipe's transposed convolution with a bias, as far as TensorFlow Lite needs to know it.
#pragma once

#include <memory>

#include "tflite/tflite_library.h"

namespace wasinn::tflite {

using OperatorPtr = std::unique_ptr<TfLiteOperator, void (*)(TfLiteOperator*)>;

// XNNPACK computes the operator and believes the shapes that the file says. This one computes nothing, but refuses
// shapes that do not belong together, so that an interpreter without XNNPACK can be asked whether a model is sound.
// NULL where the library takes no operators. Outlives the interpreters that it is given to.
OperatorPtr NewDeconvolutionCheck(const TfLiteLibrary& library);

}  // namespace wasinn::tflite
