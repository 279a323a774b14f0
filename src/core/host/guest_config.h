// A guest's configuration of a named model, for load_by_name_with_config.
#pragma once

#include <wasinn/backend.h>

#include <optional>
#include <string>
#include <vector>

#include "core/status.h"

namespace wasinn::core {

// Four keys mean the same for every backend:
//  - device: the target instead of the model's, if the policy allows it
//  - outputs: names of the outputs that contexts produce
//  - threads, precision: hints; a backend that cannot follow one for a single model has no such key
// All others are the backend's own.
struct GuestConfig {
  std::string load = "{}";     // the backend's keys for compiling
  std::string context = "{}";  // the backend's keys for contexts
  std::optional<wasinn_target> device;
  std::vector<std::string> outputs;  // none: all
  std::vector<std::string> unused;   // hints that have no effect here

  // Whether the guest needs a compiled model of its own for `target`.
  bool needs_load(wasinn_target target) const { return load != "{}" || device.value_or(target) != target; }
};

// INVALID_ARGUMENT names the key that is unknown or has a wrong value. The backend checks the values of its own keys.
Result<GuestConfig> ParseGuestConfig(const wasinn_backend& table, const std::string& json);

}  // namespace wasinn::core
