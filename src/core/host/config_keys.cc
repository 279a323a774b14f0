
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/escape.h"
#include "core/host/config.h"
#include "core/host/host_options.h"
#include "core/inference/fair_order.h"
#include "core/models/formats.h"
#include "core/models/model_options.h"
#include "core/text.h"
#include "core/words.h"

namespace wasinn::core {
namespace {

// Counts have 32 bits, as in wasinn_limits; integers have as many as in TOML.
enum class Kind {
  kCount,
  kInteger,
  kBoolean,
  kString,
  kStrings,
  kShape,
  kSizes,
  kPositive,
  kPositiveInteger,
  kPath,
  kPaths,
  kTable,
  kTables,
  kAnything
};

// Returns the error in a word, if there is one.
using WordCheck = Status (*)(std::string_view word);
template <auto parse>
Status IsWord(std::string_view word) {
  auto parsed = parse(word);
  return parsed ? Status() : std::move(parsed.error());
}

struct Key {
  const char* section;  // "" for the top level, "*" stands for any name
  const char* name;
  Kind kind;
  uint32_t most = UINT32_MAX;      // for a count
  WordCheck check_word = nullptr;  // for a string or strings
  const char* like = nullptr;      // the section whose keys the table has; NULL: its own
};

// For connections and requests: a larger number is a mistake.
constexpr uint32_t kMaxServed = 1'000'000;

constexpr Key kKeys[] = {
    {"", "threads", Kind::kCount, HostOptions::kMaxThreads},
    {"", "max_computes", Kind::kCount},
    {"", "max_guest_computes", Kind::kCount},
    {"", "call_threads", Kind::kCount, HostOptions::kMaxCallThreads},
    {"", "max_total_bytes", Kind::kInteger},
    {"", "model_dirs", Kind::kPaths},
    {"", "isolate_models", Kind::kBoolean},
    {"", "metrics", Kind::kBoolean},
    {"", "backend_dirs", Kind::kPaths},
    {"", "backend_order", Kind::kStrings},
    {"", "worker", Kind::kPath},
    {"", "max_workers", Kind::kCount},
    {"", "spare_workers", Kind::kBoolean},
    {"", "worker_spin_us", Kind::kCount},
    {"", "workers_cgroup", Kind::kPath},
    {"", "limits", Kind::kTable},
    {"", "policy", Kind::kTable},
    {"", "engine", Kind::kTable},
    {"", "log", Kind::kTable},
    {"", "models", Kind::kTable},
    {"", "backends", Kind::kTable},
    {"", "serve", Kind::kTable},  // these four are only for `wasinn serve`
    {"", "routes", Kind::kTable},
    {"", "guest_models", Kind::kTable},
    {"", "tenants", Kind::kTable},
    {"limits", "max_graphs", Kind::kCount},
    {"limits", "max_contexts", Kind::kCount},
    {"limits", "max_builders", Kind::kCount},
    {"limits", "max_tensors", Kind::kCount},
    {"limits", "max_errors", Kind::kCount},
    {"limits", "max_threads", Kind::kCount},
    {"limits", "run_timeout_ms", Kind::kCount},
    {"limits", "max_memory_bytes", Kind::kInteger},
    {"limits", "max_table_elements", Kind::kInteger},
    {"limits", "max_fuel", Kind::kInteger},
    {"limits", "max_name_bytes", Kind::kCount},
    {"limits", "max_log_messages", Kind::kCount},
    {"limits", "max_model_bytes", Kind::kInteger},
    {"limits", "max_tensor_bytes", Kind::kInteger},
    {"limits", "load_timeout_ms", Kind::kCount},
    {"limits", "compute_timeout_ms", Kind::kCount},
    {"policy", "load", Kind::kString, 0, IsWord<ParseLoad>},
    {"policy", "cpu_fallback", Kind::kBoolean},
    {"policy", "isolated_gpu", Kind::kBoolean},
    {"policy", "encodings", Kind::kStrings},
    {"policy", "targets", Kind::kStrings, 0, IsWord<ParseTarget>},
    {"policy", "models", Kind::kStrings},
    {"policy", "dialect", Kind::kString, 0, IsWord<ParseDialect>},
    {"policy", "tenant", Kind::kString},
    {"policy", "weight", Kind::kPositive, Share::kMaxWeight},
    {"policy", "allowed_outbound_hosts", Kind::kStrings},
    {"engine", "allow_precompiled", Kind::kBoolean},
    {"engine", "pool_instances", Kind::kCount},
    {"engine", "pool_memory_bytes", Kind::kInteger},
    {"engine", "max_compile_bytes", Kind::kInteger},
    {"engine", "compile_timeout_ms", Kind::kCount},
    {"log", "level", Kind::kString, 0, IsWord<ParseLogLevel>},
    {"log", "max_guest_lines", Kind::kCount},
    {"models", "*", Kind::kTable},
    {"models.*", "path", Kind::kPath},
    {"models.*", "encoding", Kind::kString},
    {"models.*", "target", Kind::kString, 0, IsWord<ParseTarget>},
    {"models.*", "version", Kind::kCount},
    {"models.*", "config", Kind::kAnything},
    {"models.*", "backend", Kind::kString},
    {"models.*", "immutable", Kind::kBoolean},
    {"models.*", "preload", Kind::kBoolean},
    {"models.*", "isolate", Kind::kBoolean},
    {"models.*", "warm_up", Kind::kCount, WarmUp::kMaxComputes},
    {"models.*", "warm_up_shapes", Kind::kTable},
    {"models.*.warm_up_shapes", "*", Kind::kShape},
    {"models.*", "batching", Kind::kTable},
    {"models.*.batching", "max_batch_size", Kind::kCount},
    {"models.*.batching", "preferred_batch_size", Kind::kSizes},
    {"models.*.batching", "max_queue_delay_microseconds", Kind::kCount},
    {"models.*.batching", "instance_count", Kind::kCount},
    {"models.*", "step", Kind::kTables},
    {"models.*", "inputs", Kind::kStrings},
    {"models.*", "outputs", Kind::kStrings},
    {"models.*.step", "model_name", Kind::kString},
    {"models.*.step", "input_map", Kind::kTable},
    {"models.*.step", "output_map", Kind::kTable},
    {"models.*.step.input_map", "*", Kind::kString},
    {"models.*.step.output_map", "*", Kind::kString},
    {"backends", "*", Kind::kAnything},
    {"serve", "host", Kind::kString},
    {"serve", "http_port", Kind::kCount, UINT16_MAX},
    {"serve", "grpc_port", Kind::kCount, UINT16_MAX},
    {"serve", "grpc_keepalive_time_ms", Kind::kPositive},
    {"serve", "grpc_keepalive_timeout_ms", Kind::kPositive},
    {"serve", "grpc_min_recv_ping_interval_ms", Kind::kPositive},
    {"serve", "grpc_max_connection_age_ms", Kind::kPositive},
    {"serve", "grpc_max_connection_age_grace_ms", Kind::kPositive},
    {"serve", "metrics_port", Kind::kCount, UINT16_MAX},
    {"serve", "metrics", Kind::kBoolean},
    {"serve", "http_metrics", Kind::kBoolean},
    {"serve", "metric_aliases", Kind::kBoolean},
    {"serve", "max_body_bytes", Kind::kPositiveInteger},
    {"serve", "max_json_bytes", Kind::kPositiveInteger},
    {"serve", "max_bytes_in_flight", Kind::kPositiveInteger},
    {"serve", "max_connections", Kind::kPositive, kMaxServed},
    {"serve", "max_waiting", Kind::kPositive, kMaxServed},
    {"serve", "wait_timeout_ms", Kind::kPositive},
    {"serve", "idle_timeout_ms", Kind::kPositive},
    {"serve", "client_timeout_ms", Kind::kCount},
    {"serve", "tls_cert", Kind::kPath},
    {"serve", "tls_key", Kind::kPath},
    {"serve", "tls_client_ca", Kind::kPath},
    {"serve", "access_log", Kind::kPath},
    {"serve", "page", Kind::kBoolean},
    {"serve", "strict", Kind::kBoolean},
    {"serve", "allow_origins", Kind::kStrings},
    {"serve", "api_key", Kind::kString},
    {"serve", "model_control_mode", Kind::kString},
    {"serve", "load_models", Kind::kStrings},
    {"serve", "poll_s", Kind::kCount, kMaxServed},
    {"serve", "max_loaded", Kind::kCount, kMaxServed},
    {"serve", "idle_unload_s", Kind::kCount, kMaxServed},
    {"routes", "*", Kind::kTable},
    {"routes.*", "file", Kind::kPath},
    {"routes.*", "public", Kind::kBoolean},
    {"routes.*", "dir", Kind::kStrings},
    {"routes.*", "env", Kind::kStrings},
    {"routes.*", "reuse", Kind::kTable},
    {"routes.*.reuse", "requests", Kind::kPositive},
    {"routes.*.reuse", "concurrent", Kind::kPositive},
    {"routes.*.reuse", "idle_ms", Kind::kPositive},
    {"routes.*", "limits", Kind::kTable, 0, nullptr, "limits"},
    {"routes.*", "policy", Kind::kTable, 0, nullptr, "policy"},
    {"guest_models", "*", Kind::kTable},
    {"guest_models.*", "file", Kind::kPath},
    {"guest_models.*", "limits", Kind::kTable, 0, nullptr, "limits"},
    {"guest_models.*", "policy", Kind::kTable, 0, nullptr, "policy"},
    {"tenants", "*", Kind::kTable},
    {"tenants.*", "keys", Kind::kStrings},
    {"tenants.*", "operator", Kind::kBoolean},
    {"tenants.*", "max_requests", Kind::kCount, kMaxServed},
    {"tenants.*", "limits", Kind::kTable, 0, nullptr, "limits"},
    {"tenants.*", "policy", Kind::kTable, 0, nullptr, "policy"},
};

bool IsCount(const toml::node& value, uint32_t most) {
  return value.is_integer() && **value.as_integer() >= 0 && **value.as_integer() <= most;
}

template <typename Is>
bool IsArrayOf(const toml::node& value, Is is) {
  const toml::array* array = value.as_array();
  return array != nullptr && std::ranges::all_of(*array, is);
}

// The values of a kind: in words, and by a check.
struct KindRow {
  const char* name;  // "{}": the key's most
  bool (*has)(const toml::node& value, const Key& key);
};
KindRow RowOf(Kind kind) {
  constexpr auto is_strings = [](const toml::node& value, const Key&) {
    return IsArrayOf(value, [](const toml::node& item) { return item.is_string(); });
  };
  constexpr auto is_counts = [](const toml::node& value, const Key&) {
    return IsArrayOf(value, [](const toml::node& item) { return IsCount(item, UINT32_MAX); });
  };
  constexpr auto is_string = [](const toml::node& value, const Key&) { return value.is_string(); };
  switch (kind) {
    case Kind::kCount:
      return {"an integer from 0 to {}", [](const auto& value, const Key& key) { return IsCount(value, key.most); }};
    case Kind::kPositive:
      return {"an integer from 1 to {}",
              [](const auto& value, const Key& key) { return IsCount(value, key.most) && **value.as_integer() > 0; }};
    case Kind::kInteger:
      return {"an integer that is not negative",
              [](const auto& value, const Key&) { return value.is_integer() && **value.as_integer() >= 0; }};
    case Kind::kPositiveInteger:
      return {"a positive integer",
              [](const auto& value, const Key&) { return value.is_integer() && **value.as_integer() > 0; }};
    case Kind::kBoolean:
      return {"true or false", [](const auto& value, const Key&) { return value.is_boolean(); }};
    case Kind::kString:
      return {"a string", is_string};
    case Kind::kPath:
      return {"a path (a string)", is_string};
    case Kind::kStrings:
      return {"an array of strings", is_strings};
    case Kind::kPaths:
      return {"an array of paths (strings)", is_strings};
    case Kind::kSizes:
      return {"an array of integers from 0 to 4294967295", is_counts};
    case Kind::kShape:
      return {"a shape (an array of integers from 0 to 4294967295)", is_counts};
    case Kind::kTables:
      return {"an array of tables", [](const auto& value, const Key&) {
                const toml::array* array = value.as_array();
                return array != nullptr && !array->empty() && array->is_homogeneous(toml::node_type::table);
              }};
    case Kind::kTable:
    case Kind::kAnything:
      break;
  }
  return {"a table", [](const auto& value, const Key&) { return value.is_table(); }};
}
bool HasKind(const toml::node& value, const Key& key) { return RowOf(key.kind).has(value, key); }

// Checks a string, or each string of an array.
Status CheckWords(const toml::node& value, WordCheck check) {
  if (const toml::value<std::string>* text = value.as_string()) return check(**text);
  for (const toml::node& item : *value.as_array()) {
    RETURN_IF_ERROR(CheckWords(item, check));
  }
  return Status();
}

// Names, paths and words go on as C strings, which end at a NUL: the rest would be lost silently.
Status CheckNoNul(const toml::node& value, const std::string& place) {
  const auto has_nul = [](std::string_view text) { return text.find('\0') != text.npos; };
  Status status;
  if (const toml::table* table = value.as_table()) {
    for (auto&& [toml_key, inner] : *table) {
      const std::string name = place.empty() ? std::string(toml_key) : fmt::format("{}.{}", place, toml_key.str());
      if (has_nul(toml_key)) {
        return Error(WASINN_ERROR_INVALID_ARGUMENT, "the name of configuration key '{}' has a NUL character",
                     Escape(name));
      }
      if (status = CheckNoNul(inner, name); !status.ok()) return status;
    }
  } else if (const toml::array* array = value.as_array()) {
    for (const toml::node& item : *array) {
      if (status = CheckNoNul(item, place); !status.ok()) return status;
    }
  } else if (const toml::value<std::string>* text = value.as_string(); text != nullptr && has_nul(**text)) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "configuration key '{}' has a NUL character in its value",
                 Escape(place));
  }
  return status;
}

// Addresses of a registry or a server stay as they are; the command knows the path of a pulled artifact.
void MakeAbsolute(toml::node& value, const std::filesystem::path& folder) {
  if (toml::value<std::string>* text = value.as_string()) {
    if (SchemeOf(**text).empty()) **text = (folder / **text).lexically_normal().string();
  } else if (toml::array* array = value.as_array()) {
    for (toml::node& item : *array) MakeAbsolute(item, folder);
  }
}

class Checker {
 public:
  explicit Checker(const std::filesystem::path& folder) : folder_(folder) {}

  // `section` is as in kKeys. `place` has the real names, for messages.
  Status Check(toml::table& values, const std::string& section, const std::string& place) {
    for (auto&& [toml_key, value] : values) {
      const std::string name(toml_key.str());
      const Key* key = Find(section, name);
      if (key == nullptr) return Unknown(section, place + name, name, value);
      RETURN_IF_ERROR(CheckValue(*key, value, section, place + name));
    }
    return Status();
  }

 private:
  static const Key* Find(std::string_view section, std::string_view name) {
    const auto found = std::ranges::find_if(kKeys, [&](const Key& key) {
      return section == key.section && (name == key.name || std::string_view(key.name) == "*");
    });
    return found == std::end(kKeys) ? nullptr : found;
  }

  static Status Unknown(std::string_view section, const std::string& full, const std::string& name,
                        const toml::node& value) {
    // Another section may have exactly this key.
    const auto* const elsewhere = std::ranges::find_if(kKeys, [&](const Key& key) {
      return name == key.name && HasKind(value, key) && *key.section != '\0' &&
             std::string_view(key.section).find('*') == std::string_view::npos;
    });
    if (elsewhere != std::end(kKeys)) {
      return Error(WASINN_ERROR_INVALID_ARGUMENT, "unknown configuration key '{}'; did you mean '{}.{}'?", full,
                   elsewhere->section, elsewhere->name);
    }
    std::vector<std::string> known;
    for (const Key& key : kKeys) {
      if (section == key.section) known.emplace_back(key.name);
    }
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "unknown configuration key '{}'{}", full, Suggest(name, known));
  }

  Status CheckValue(const Key& key, toml::node& value, const std::string& section, const std::string& place) {
    if (!HasKind(value, key)) {
      return Error(WASINN_ERROR_INVALID_ARGUMENT, "configuration key '{}' must be {}", place,
                   fmt::format(fmt::runtime(RowOf(key.kind).name), key.most));
    }
    if (key.check_word != nullptr) {
      RETURN_IF_ERROR(At(fmt::format("configuration key '{}'", place), CheckWords(value, key.check_word)));
    }
    if (key.kind == Kind::kPaths || (key.kind == Kind::kPath && value.value<std::string>() != "")) {
      MakeAbsolute(value, folder_);
    }
    std::string inner = section;
    if (!inner.empty()) inner += ".";
    inner += key.name;
    if (key.like != nullptr) inner = key.like;
    if (key.kind == Kind::kTables) return CheckTables(*value.as_array(), inner, place);
    if (key.kind != Kind::kTable) return Status();
    return Check(*value.as_table(), inner, place + ".");
  }

  Status CheckTables(toml::array& tables, const std::string& section, const std::string& place) {
    for (size_t i = 0; i < tables.size(); ++i) {
      RETURN_IF_ERROR(Check(*tables[i].as_table(), section, fmt::format("{}[{}].", place, i)));
    }
    return Status();
  }

  const std::filesystem::path& folder_;
};

}  // namespace

Status CheckKeys(toml::table& values, const std::filesystem::path& folder) {
  RETURN_IF_ERROR(CheckNoNul(values, ""));
  return Checker(folder).Check(values, "", "");
}

void MergeTables(toml::table& into, const toml::table& from) {
  for (auto&& [key, value] : from) {
    toml::node* existing = into.get(key.str());
    if (existing != nullptr && existing->is_table() && value.is_table()) {
      MergeTables(*existing->as_table(), *value.as_table());
    } else {
      into.insert_or_assign(key.str(), value);
    }
  }
}

}  // namespace wasinn::core
