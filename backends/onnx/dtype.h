// Element types: ONNX Runtime's and wasinn's.
#pragma once

#include <wasinn/types.h>

#include "onnx/ort_library.h"

namespace wasinn::onnx {

// WASINN_DTYPE_UNKNOWN for a type that wasinn has no word for.
wasinn_dtype FromOrt(ONNXTensorElementDataType type);
// ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED for one that ONNX Runtime has no word for.
ONNXTensorElementDataType ToOrt(wasinn_dtype type);
// ONNX's own word: "float", "int64", "string".
const char* OnnxName(ONNXTensorElementDataType type);

}  // namespace wasinn::onnx
