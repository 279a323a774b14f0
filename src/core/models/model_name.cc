#include "core/models/model_name.h"

#include <charconv>

namespace wasinn::core {

Status CheckModelName(std::string_view name) {
  if (name.empty()) return Error(WASINN_ERROR_INVALID_ARGUMENT, "a model needs a name");
  if (name.find(':') == std::string_view::npos) return Status();
  return Error(WASINN_ERROR_INVALID_ARGUMENT,
               "a model cannot be named '{}': a colon stands between a name and a version (NAME:2)", name);
}

std::optional<std::pair<std::string_view, uint32_t>> SplitVersion(std::string_view name) {
  const size_t colon = name.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view digits = name.substr(colon + 1);
  uint32_t version = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return std::pair(name.substr(0, colon), version);
}

}  // namespace wasinn::core
