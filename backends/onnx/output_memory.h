// Memory of outputs that callers may take with them.
#pragma once

#include <memory>

#include "common/aligned_buffer.h"
#include "onnx/device_turn.h"
#include "onnx/ort_library.h"

namespace wasinn::onnx {

// What an output lies in.
struct OutputMemory {
  backend::AlignedBuffer buffer;  // a copy of what ONNX Runtime passed on; else none
  OrtPtr<OrtValue> value;
  bool takes_turns = false;  // its end, where it lies on a device

  void Release() {
    const DeviceTurn turn(takes_turns);
    value.reset();
  }
};

using OutputMemoryPtr = std::unique_ptr<OutputMemory>;

}  // namespace wasinn::onnx
