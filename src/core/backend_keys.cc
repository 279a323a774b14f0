#include "core/backend_keys.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/text.h"

namespace wasinn::core {
namespace {

bool IsForContexts(const wasinn_backend& table, std::string_view name) {
  const std::span<const wasinn_key> keys(table.keys, table.n_keys);
  auto found = std::ranges::find(keys, name, &wasinn_key::name);
  if (found == keys.end()) found = std::ranges::find(keys, std::string_view(WASINN_KEY_ANY), &wasinn_key::name);
  return found != keys.end() && (found->where & WASINN_KEY_CONTEXT) != 0;
}

}  // namespace

Status CheckBackendKeys(const wasinn_backend& table, uint32_t where, const std::string& json) {
  const nlohmann::json object = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    return Error(WASINN_INVALID_ARGUMENT, "the configuration for backend '{}' is not a JSON object", table.name);
  }
  std::vector<std::string> known;
  for (size_t i = 0; i < table.n_keys; ++i) {
    if ((table.keys[i].where & where) != 0) known.emplace_back(table.keys[i].name);
  }
  if (std::ranges::find(known, WASINN_KEY_ANY) != known.end()) return Status();
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(known, key) == known.end()) {
      return Error(WASINN_INVALID_ARGUMENT, "backend '{}' has no key '{}'{}", table.name, key, Suggest(key, known));
    }
  }
  return Status();
}

Result<GuestConfig> PartGuestConfig(const wasinn_backend& table, const std::string& json) {
  if (Status status = CheckBackendKeys(table, WASINN_KEY_GUEST, json); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  const nlohmann::json given = nlohmann::json::parse(json);
  nlohmann::json load = nlohmann::json::object(), context = nlohmann::json::object();
  for (const auto& [key, value] : given.items()) {
    (IsForContexts(table, key) ? context : load)[key] = value;
  }
  return GuestConfig{load.dump(), context.dump()};
}

}  // namespace wasinn::core
