// Memory of outputs that callers may take with them.
#ifndef WASINN_BACKENDS_OPENVINO_OUTPUT_MEMORY_H_
#define WASINN_BACKENDS_OPENVINO_OUTPUT_MEMORY_H_

#include <memory>

#include "common/aligned_buffer.h"
#include "common/spare.h"

namespace wasinn::openvino {

// What an output is copied to.
struct OutputMemory {
  backend::AlignedBuffer buffer;
  // While somebody has taken it: where it goes back to; NULL: nowhere.
  std::shared_ptr<backend::Spare<OutputMemory>::Home> home;
};

using OutputMemoryPtr = std::unique_ptr<OutputMemory>;

}  // namespace wasinn::openvino

#endif  // WASINN_BACKENDS_OPENVINO_OUTPUT_MEMORY_H_
