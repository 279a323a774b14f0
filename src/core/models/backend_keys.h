// Configuration keys of backends: an unknown one is an error that names the nearest known one.
#pragma once

#include <wasinn/backend.h>

#include <string>

#include "core/status.h"

namespace wasinn::core {

// Checks that `json` is an object and that the backend knows each of its keys for this use (WASINN_KEY_*).
Status CheckBackendKeys(const wasinn_backend& table, uint32_t where, const std::string& json);

}  // namespace wasinn::core
