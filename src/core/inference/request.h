// One inference: its inputs, its wanted outputs, and its limits. Sessions run requests.
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

// Writes to the standard output of a guest's program. As in wasinn_guest_options.
struct Printer {
  void (*print)(void* user, const char* text, size_t size) = nullptr;
  void* user = nullptr;
};

// An input as a session sees it. Its bytes stay where they are until the session has unbound it, or has another input.
struct Input {
  bool set = false;
  bool borrowed = false;           // the bytes are the request's: the session unbinds them after its run
  uint64_t version = 0;            // changes if the session must bind it again; never 0 if it is set
  TensorDesc desc;                 // for the framework
  std::span<const uint8_t> bytes;  // addresses of the host's memory, unless the tensor is on a device
  TensorPtr tensor;                // the owner of the bytes; NULL: another object owns them
};

struct InferenceRequest {
  std::span<const Input> inputs;          // one for each input of the model
  uint64_t inputs_version = 0;            // changes with each input that is changed, set or unset; 0: unknown
  std::span<const uint32_t> wanted;       // outputs, ascending, none twice; none: all
  std::span<void* const> destinations;    // by output; none, or NULL: the framework chooses its place
  std::chrono::milliseconds time_left{};  // for the framework; 0: no deadline
  uint64_t max_bytes = 0;                 // as in wasinn_compute_options
  const Printer* printer = nullptr;       // for pieces of a text; NULL: they are not wanted
  const std::function<void()>* at_turn =
      nullptr;                   // called when nothing more is waited for; throws nothing; may be NULL
  const Watched* run = nullptr;  // may be cancelled
  Meter* meter = nullptr;

  bool cancelled() const { return run->cancelled(); }
};

// Whether a run or step with this status has outputs: a generative model that has filled its context has some.
inline bool LeavesOutputs(const Status& status) {
  return status.ok() || status.code() == WASINN_ERROR_CONTEXT_FULL || status.code() == WASINN_ERROR_END_OF_SEQUENCE;
}

}  // namespace wasinn::core
