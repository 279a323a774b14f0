// Tensors over memory of ours.
#ifndef WASINN_BACKENDS_ONNX_TENSOR_H_
#define WASINN_BACKENDS_ONNX_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "onnx/ort_library.h"

namespace wasinn::onnx {

// A value of ONNX Runtime over memory that must outlive it.
OrtPtr<OrtValue> MakeTensor(const OrtLibrary& library, const OrtMemoryInfo* memory, ONNXTensorElementDataType type,
                            std::span<const int64_t> dims, void* data, size_t bytes);

}  // namespace wasinn::onnx

#endif  // WASINN_BACKENDS_ONNX_TENSOR_H_
