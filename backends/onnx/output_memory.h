// Memory of outputs that callers may take with them.
#ifndef WASINN_BACKENDS_ONNX_OUTPUT_MEMORY_H_
#define WASINN_BACKENDS_ONNX_OUTPUT_MEMORY_H_

#include <memory>
#include <mutex>
#include <utility>

#include "common/aligned_buffer.h"
#include "onnx/ort_library.h"

namespace wasinn::onnx {

// A buffer, and, where it is bound, ONNX Runtime's value over it.
struct OutputMemory {
  backend::AlignedBuffer buffer;
  OrtPtr<OrtValue> value;
};

// Keeps one that came back, for the next run: whoever takes an output of each run gets the same two in turn. It comes
// back to the context that made it, so that nobody else sees what was in it; it may outlive that. Any thread.
class OutputMemories {
 public:
  void Give(OutputMemory memory) {
    const std::lock_guard lock(mutex_);
    std::swap(memory_, memory);
  }
  // An empty one if there is none.
  OutputMemory Take() {
    OutputMemory memory{.buffer = {}, .value = {nullptr, nullptr}};
    const std::lock_guard lock(mutex_);
    std::swap(memory_, memory);
    return memory;
  }

 private:
  std::mutex mutex_;
  OutputMemory memory_{.buffer = {}, .value = {nullptr, nullptr}};
};

}  // namespace wasinn::onnx

#endif  // WASINN_BACKENDS_ONNX_OUTPUT_MEMORY_H_
