// One inference: what it is given, what is wanted of it, and what bounds it. Sessions run requests.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>

#include "core/inference/shared_tensor.h"
#include "core/memory/tensor.h"
#include "core/metrics/meter.h"
#include "core/runtime/watchdog.h"

namespace wasinn::core {

// Writes where a guest's program writes. As in wasinn_guest_options.
struct Printer {
  void (*print)(void* user, const char* text, size_t size) = nullptr;
  void* user = nullptr;
};

// An input as a session sees it. Its bytes stay where they are until the session has unbound it, or has another one.
struct Input {
  bool set = false;
  bool borrowed = false;           // the bytes are of this request: the session unbinds the input at the end of its run
  uint64_t version = 0;            // another one if the session must bind it anew; never 0 if it is set
  TensorDesc desc;                 // as the framework shall see it
  std::span<const uint8_t> bytes;  // addresses of the host's memory, unless the tensor is a device's
  TensorPtr tensor;                // that has the bytes; null: somebody else has them
};

struct InferenceRequest {
  std::span<const Input> inputs;          // one for each input of the model
  uint64_t inputs_version = 0;            // changes with each input that is changed, set or unset; 0: not known
  std::span<const uint32_t> wanted;       // outputs, ascending, none twice; none: all
  std::span<void* const> destinations;    // by output, where the framework is to write it; none, or NULL: as it likes
  std::chrono::milliseconds time_left{};  // for the framework to know; 0: no deadline
  uint64_t max_bytes = 0;                 // as in wasinn_compute_options
  const Printer* printer = nullptr;       // for pieces of a text; NULL: nobody wants them
  const std::function<void()>* at_turn =
      nullptr;                   // called when nothing more is waited for; throws nothing; may be NULL
  const Watched* run = nullptr;  // which may be cancelled
  Meter* meter = nullptr;

  bool cancelled() const { return run->cancelled(); }
};

// Whether a run or step that ended so has outputs: a model that generates has filled its context with them.
inline bool LeavesOutputs(const Status& status) {
  return status.ok() || status.code() == WASINN_ERROR_CONTEXT_FULL || status.code() == WASINN_ERROR_END_OF_SEQUENCE;
}

}  // namespace wasinn::core
