// Configuration keys of backends: an unknown one is an error that names the nearest known one.
#pragma once

#include <wasinn/backend.h>

#include <string>

#include "core/status.h"

namespace wasinn::core {

// Checks that `json` is an object and that the backend knows each of its keys at that place (WASINN_KEY_*).
Status CheckBackendKeys(const wasinn_backend& table, uint32_t where, const std::string& json);

// A guest's configuration of a named model.
struct GuestConfig {
  std::string load = "{}";     // what a compile needs to know: the guest gets one of its own
  std::string context = "{}";  // what its contexts need to know
  bool needs_load() const { return load != "{}"; }
};
// `json` is checked as by CheckBackendKeys.
Result<GuestConfig> PartGuestConfig(const wasinn_backend& table, const std::string& json);

}  // namespace wasinn::core
