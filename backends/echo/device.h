// A device of echo. Only the device can read its memory: its values are no addresses of the host.
#pragma once

#include <cstdint>
#include <string>

#include "model.h"
#include "values.h"

namespace wasinn::echo {

// NOLINTNEXTLINE(performance-no-int-to-ptr): nobody reads there
inline void* ToOtherSide(void* address) { return reinterpret_cast<void*>(~reinterpret_cast<uintptr_t>(address)); }

// Moves an output of `model` there.
inline void PutOnDevice(const wasinn_backend_graph& model, Buffer& output) {
  output.tensor.data = ToOtherSide(output.tensor.data);
  output.tensor.memory = model.memory.c_str();
}

// An input of `model` in the device's view. False: it is in another device's memory.
inline bool SeenByDevice(const wasinn_backend_graph& model, wasinn_tensor& input) {
  if (input.memory == nullptr) return true;
  if (model.memory != input.memory) return false;
  input.data = ToOtherSide(input.data);
  input.memory = nullptr;
  return true;
}

}  // namespace wasinn::echo
