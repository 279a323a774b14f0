// Memory of outputs that callers may take with them.
#ifndef WASINN_BACKENDS_OPENVINO_OUTPUT_MEMORY_H_
#define WASINN_BACKENDS_OPENVINO_OUTPUT_MEMORY_H_

#include <memory>
#include <mutex>
#include <utility>

#include "common/aligned_buffer.h"

namespace wasinn::openvino {

class OutputMemories;

// What an output is copied to.
struct OutputMemory {
  backend::AlignedBuffer buffer;
  // While somebody has taken it: where it goes back to; NULL: nowhere.
  std::shared_ptr<OutputMemories> home;
};

using OutputMemoryPtr = std::unique_ptr<OutputMemory>;

// Keeps one that came back, for the next run: whoever takes an output of each run gets the same two in turn. It comes
// back to the context that made it, so that nobody else sees what was in it; it may outlive that. Any thread.
class OutputMemories {
 public:
  void Give(OutputMemoryPtr memory) {
    const std::lock_guard lock(mutex_);
    std::swap(memory_, memory);
  }
  // NULL if there is none.
  OutputMemoryPtr Take() {
    const std::lock_guard lock(mutex_);
    return std::move(memory_);
  }

 private:
  std::mutex mutex_;
  OutputMemoryPtr memory_;
};

}  // namespace wasinn::openvino

#endif  // WASINN_BACKENDS_OPENVINO_OUTPUT_MEMORY_H_
