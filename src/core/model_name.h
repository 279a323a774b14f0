// Names of models as guests say them: "digits", or "digits:2" for one version.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace wasinn::core {

// "NAME:2" as name and version; nothing if there is no such suffix.
std::optional<std::pair<std::string_view, uint32_t>> SplitVersion(std::string_view name);

}  // namespace wasinn::core
