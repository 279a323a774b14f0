// Configuration keys of backends: an unknown one is an error that names the nearest known one.
#pragma once

#include <wasinn/backend.h>

#include <span>
#include <string>
#include <string_view>

#include "core/status.h"

namespace wasinn::core {

// Checks that `json` is an object and that the backend knows each of its keys at that place (WASINN_KEY_*).
Status CheckBackendKeys(const wasinn_backend& table, uint32_t where, const std::string& json);

// "; did you mean 'x'?" with the nearest of the known words, or a list of them if none is near.
std::string Suggest(std::string_view word, std::span<const std::string> known);

}  // namespace wasinn::core
