// Names of models in calls of guests: "digits", or "digits:2" for one version.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "core/status.h"

namespace wasinn::core {

// INVALID_ARGUMENT for a name that no model can have: an empty one, or one with a colon. "digits:2" would be a version
// of "digits", for policies too.
Status CheckModelName(std::string_view name);

// "NAME:2" as name and version; no value if there is no such suffix.
std::optional<std::pair<std::string_view, uint32_t>> SplitVersion(std::string_view name);

}  // namespace wasinn::core
