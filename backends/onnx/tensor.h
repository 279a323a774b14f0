// Tensors over memory of ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "onnx/ort_library.h"

namespace wasinn::onnx {

// A value of ONNX Runtime over memory that must outlive it.
OrtPtr<OrtValue> MakeTensor(const OrtLibrary& library, const OrtMemoryInfo* memory, ONNXTensorElementDataType type,
                            std::span<const int64_t> dims, void* data, size_t bytes);

}  // namespace wasinn::onnx
