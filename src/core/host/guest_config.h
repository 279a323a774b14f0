// A guest's configuration of a named model, of load_by_name_with_config.
#pragma once

#include <wasinn/backend.h>

#include <optional>
#include <string>
#include <vector>

#include "core/status.h"

namespace wasinn::core {

// Four keys mean the same whatever the backend:
//  - device: the target, in place of the model's, where the policy allows it
//  - outputs: names of the outputs that contexts produce
//  - threads, precision: hints; a backend that cannot follow one for a single model has no such key
// All others are the backend's own.
struct GuestConfig {
  std::string load = "{}";     // of the backend's keys, what a compile needs to know
  std::string context = "{}";  // and what contexts need to know
  std::optional<wasinn_target> device;
  std::vector<std::string> outputs;  // none: all
  std::vector<std::string> unused;   // hints that have no effect here

  // Whether the guest needs a compile of its own of a model for `target`.
  bool needs_load(wasinn_target target) const { return load != "{}" || device.value_or(target) != target; }
};

// INVALID_ARGUMENT names the key that is not known, or whose value is not as it must be. What the backend's own keys
// may be is for the backend to judge.
Result<GuestConfig> ParseGuestConfig(const wasinn_backend& table, const std::string& json);

}  // namespace wasinn::core
