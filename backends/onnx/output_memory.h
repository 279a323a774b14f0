// Memory of outputs that callers may take with them.
#ifndef WASINN_BACKENDS_ONNX_OUTPUT_MEMORY_H_
#define WASINN_BACKENDS_ONNX_OUTPUT_MEMORY_H_

#include <memory>

#include "common/aligned_buffer.h"
#include "common/spare.h"
#include "onnx/ort_library.h"

namespace wasinn::onnx {

// What an output lies in.
struct OutputMemory {
  backend::AlignedBuffer buffer;  // none where ONNX Runtime allocated
  OrtPtr<OrtValue> value;         // over the buffer, or with memory of its own
  // While somebody has taken it: where it goes back to; NULL: nowhere.
  std::shared_ptr<backend::Spare<OutputMemory>::Home> home;
};

using OutputMemoryPtr = std::unique_ptr<OutputMemory>;

}  // namespace wasinn::onnx

#endif  // WASINN_BACKENDS_ONNX_OUTPUT_MEMORY_H_
