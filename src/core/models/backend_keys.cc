#include "core/models/backend_keys.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/json.h"
#include "core/text.h"

namespace wasinn::core {
Status CheckBackendKeys(const wasinn_backend& table, uint32_t where, const std::string& json) {
  const nlohmann::json object = base::ParseJson(json);
  if (!object.is_object()) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT,
                 "the configuration for backend '{}' is not a JSON object, or is nested deeper than {}", table.name,
                 base::kDeepestJson);
  }
  std::vector<std::string> known;
  for (size_t i = 0; i < table.n_keys; ++i) {
    if ((table.keys[i].where & where) != 0) known.emplace_back(table.keys[i].name);
  }
  if (std::ranges::find(known, WASINN_KEY_ANY) != known.end()) return Status();
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(known, key) == known.end()) {
      return Error(WASINN_ERROR_INVALID_ARGUMENT, "backend '{}' has no key '{}'{}", table.name, key,
                   Suggest(key, known));
    }
  }
  return Status();
}

}  // namespace wasinn::core
