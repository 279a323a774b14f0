#include "core/backend_keys.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

namespace wasinn::core {
namespace {

// Levenshtein's distance.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Suggest(std::string_view word, std::span<const std::string> known) {
  if (known.empty()) return "; there are none here";
  const auto nearest =
      std::ranges::min_element(known, {}, [&](const std::string& candidate) { return Distance(word, candidate); });
  if (Distance(word, *nearest) <= std::max<size_t>(2, word.size() / 3)) {
    return fmt::format("; did you mean '{}'?", *nearest);
  }
  return fmt::format("; known are {}", fmt::join(known, ", "));
}

Status CheckBackendKeys(const wasinn_backend& table, uint32_t where, const std::string& json) {
  const nlohmann::json object = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    return Error(WASINN_INVALID_ARGUMENT, "the configuration for backend '{}' is not a JSON object", table.name);
  }
  std::vector<std::string> known;
  for (size_t i = 0; i < table.n_keys; ++i) {
    if ((table.keys[i].where & where) != 0) known.emplace_back(table.keys[i].name);
  }
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(known, key) == known.end()) {
      return Error(WASINN_INVALID_ARGUMENT, "backend '{}' has no key '{}'{}", table.name, key, Suggest(key, known));
    }
  }
  return Status();
}

}  // namespace wasinn::core
