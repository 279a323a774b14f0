#include "onnx/tensor.h"

namespace wasinn::onnx {

uint64_t TensorBytes(std::span<const int64_t> dims, size_t element_size) {
  uint64_t bytes = element_size;
  for (const int64_t dim : dims) {
    if (dim == 0) return 0;
  }
  for (const int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes)) return UINT64_MAX;
  }
  return bytes;
}

OrtPtr<OrtValue> MakeTensor(const OrtLibrary& library, const OrtMemoryInfo* memory, ONNXTensorElementDataType type,
                            std::span<const int64_t> dims, void* data, size_t bytes) {
  OrtValue* value = nullptr;
  library.Check(
      library.api().CreateTensorWithDataAsOrtValue(memory, data, bytes, dims.data(), dims.size(), type, &value),
      "making a tensor");
  return {value, library.api().ReleaseValue};
}

}  // namespace wasinn::onnx
