#include "core/host/guest_config.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "base/json.h"
#include "core/models/backend.h"
#include "core/words.h"

namespace wasinn::core {
namespace {

// Valid for every backend: a larger number of threads or a precision that no device has is a mistake.
constexpr int64_t kMaxThreads = 65536;
constexpr std::string_view kPrecisions[] = {"f32", "f16", "bf16", "accurate"};

const wasinn_key* FindGuestKey(const wasinn_backend& table, std::string_view name) {
  const std::span<const wasinn_key> keys(table.keys, table.n_keys);
  const auto found = std::ranges::find_if(
      keys, [&](const wasinn_key& key) { return (key.where & WASINN_KEY_GUEST) != 0 && name == key.name; });
  return found == keys.end() ? nullptr : &*found;
}

bool IsForContexts(const wasinn_backend& table, std::string_view name) {
  const wasinn_key* key = FindGuestKey(table, name);
  if (key == nullptr) key = FindGuestKey(table, WASINN_KEY_ANY);
  return key != nullptr && (key->where & WASINN_KEY_CONTEXT) != 0;
}

// Removes `name` from the object and returns its value; null if there is none.
nlohmann::json Take(nlohmann::json& given, const char* name) {
  const auto found = given.find(name);
  if (found == given.end()) return nullptr;
  nlohmann::json value = std::move(*found);
  given.erase(found);
  return value;
}

Status MustBe(const char* name, const char* what, const nlohmann::json& value) {
  return Error(WASINN_ERROR_INVALID_ARGUMENT, "configuration key '{}' must be {}, not {}", name, what,
               value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).substr(0, 100));
}

Status TakeDevice(nlohmann::json& given, GuestConfig& config) {
  const nlohmann::json value = Take(given, "device");
  if (value.is_null()) return Status();
  if (value.is_string()) {
    if (Result<wasinn_target> target = ParseTarget(value.get<std::string>())) {
      config.device = *target;
      return Status();
    }
  }
  return MustBe("device", "cpu, gpu, tpu or auto", value);
}

Status TakeOutputs(nlohmann::json& given, GuestConfig& config) {
  const nlohmann::json value = Take(given, "outputs");
  if (value.is_null()) return Status();
  const bool names = value.is_array() && !value.empty() &&
                     std::ranges::all_of(value, [](const nlohmann::json& name) { return name.is_string(); });
  if (!names) return MustBe("outputs", "a list of names", value);
  config.outputs = value.get<std::vector<std::string>>();
  return Status();
}

// A hint is checked here, to mean the same for all backends. It stays in the object if the backend can follow it.
Status CheckHint(nlohmann::json& given, const char* name, const char* what, bool (*is_right)(const nlohmann::json&),
                 const wasinn_backend& table, GuestConfig& config) {
  const auto found = given.find(name);
  if (found == given.end()) return Status();
  if (!is_right(*found)) return MustBe(name, what, *found);
  if (FindGuestKey(table, name) != nullptr) return Status();
  given.erase(found);
  config.unused.emplace_back(name);
  return Status();
}

bool IsThreads(const nlohmann::json& value) {
  return value.is_number_integer() && value.get<int64_t>() >= 1 && value.get<int64_t>() <= kMaxThreads;
}

bool IsPrecision(const nlohmann::json& value) {
  return value.is_string() && std::ranges::find(kPrecisions, value.get<std::string>()) != std::end(kPrecisions);
}

Status TakeCommon(nlohmann::json& given, const wasinn_backend& table, GuestConfig& config) {
  RETURN_IF_ERROR(TakeDevice(given, config));
  RETURN_IF_ERROR(TakeOutputs(given, config));
  RETURN_IF_ERROR(CheckHint(given, "threads", "a number from 1", IsThreads, table, config));
  return CheckHint(given, "precision", "f32, f16, bf16 or accurate", IsPrecision, table, config);
}

}  // namespace

Result<GuestConfig> ParseGuestConfig(const wasinn_backend& table, const std::string& json) {
  nlohmann::json given = base::ParseJson(json);
  if (!given.is_object()) {
    return Fail(WASINN_ERROR_INVALID_ARGUMENT,
                "the configuration for backend '{}' is not a JSON object, or is nested deeper than {}", table.name,
                base::kDeepestJson);
  }
  GuestConfig config;
  RETURN_IF_ERROR(TakeCommon(given, table, config));
  RETURN_IF_ERROR(CheckBackendKeys(table, WASINN_KEY_GUEST, given.dump()));
  nlohmann::json load = nlohmann::json::object(), context = nlohmann::json::object();
  for (const auto& [key, value] : given.items()) (IsForContexts(table, key) ? context : load)[key] = value;
  config.load = load.dump();
  config.context = context.dump();
  return config;
}

}  // namespace wasinn::core
