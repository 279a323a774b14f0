#include "onnx/tensor.h"

namespace wasinn::onnx {

OrtPtr<OrtValue> MakeTensor(const OrtLibrary& library, const OrtMemoryInfo* memory, ONNXTensorElementDataType type,
                            std::span<const int64_t> dims, void* data, size_t bytes) {
  OrtValue* value = nullptr;
  library.Check(
      library.api().CreateTensorWithDataAsOrtValue(memory, data, bytes, dims.data(), dims.size(), type, &value),
      "making a tensor");
  return {value, library.api().ReleaseValue};
}

}  // namespace wasinn::onnx
