#include "llama/state_settings.h"

#include <algorithm>

#include "common/throw.h"

namespace wasinn::llama {

namespace {

constexpr size_t kLongestName = 64;

// Names appear unescaped in messages and JSON.
bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

void SetName(const backend::Config& config, const char* key, std::string* name) {
  auto given = config.String(key);
  if (!given) return;
  if (given->size() > kLongestName || !std::ranges::all_of(*given, IsNameCharacter)) {
    backend::Throw(WASINN_ERROR_INVALID_ARGUMENT, "{}: expected a name of at most {} letters, digits, '.', '_' and '-'",
                   key, kLongestName);
  }
  *name = *std::move(given);
}

}  // namespace

void StateSettings::Apply(const backend::Config& config) {
  SetName(config, "save-state", &save);
  SetName(config, "restore-state", &restore);
  SetName(config, "erase-state", &erase);
}

}  // namespace wasinn::llama
