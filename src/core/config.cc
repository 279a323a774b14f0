#include "core/config.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

#include "core/config_keys.h"
#include "core/words.h"

namespace wasinn::core {
namespace {

namespace fs = std::filesystem;

std::string ToJson(const toml::table& table) {
  std::ostringstream text;
  text << toml::json_formatter(table);
  return text.str();
}

// Reads one section; types were checked when the values came in.
class Section {
 public:
  explicit Section(const toml::table& values, std::string place = "") : values_(values), place_(std::move(place)) {}

  template <typename T>
  Status Integer(const char* key, T& out) const {
    const std::optional<int64_t> value = values_[key].value<int64_t>();
    if (!value) return Status();
    if (static_cast<uint64_t>(*value) > std::numeric_limits<T>::max()) {
      return Error(WASINN_INVALID_ARGUMENT, "configuration key '{}{}' is at most {}", place_, key,
                   std::numeric_limits<T>::max());
    }
    out = static_cast<T>(*value);
    return Status();
  }
  void Boolean(const char* key, bool& out) const { out = values_[key].value_or(out); }
  void String(const char* key, std::string& out) const { out = values_[key].value_or(out); }
  std::optional<std::string> Word(const char* key) const { return values_[key].value<std::string>(); }
  std::optional<std::vector<std::string>> Strings(const char* key) const {
    const toml::array* array = values_[key].as_array();
    if (array == nullptr) return std::nullopt;
    std::vector<std::string> strings;
    for (const toml::node& item : *array) strings.push_back(item.value_or(std::string()));
    return strings;
  }
  // The tables inside of this one, by name.
  template <typename F>
  void EachTable(F&& function) const {
    for (auto&& [key, value] : values_) function(std::string(key.str()), *value.as_table());
  }

 private:
  const toml::table& values_;
  const std::string place_;
};

Status ReadLimits(const Section& section, wasinn_limits& limits) {
  using L = wasinn_limits;
  static constexpr std::pair<const char*, uint32_t L::*> kCounts[] = {{"max_graphs", &L::max_graphs},
                                                                      {"max_contexts", &L::max_contexts},
                                                                      {"max_builders", &L::max_builders},
                                                                      {"max_name_bytes", &L::max_name_bytes},
                                                                      {"max_log_messages", &L::max_log_messages},
                                                                      {"max_tensors", &L::max_tensors},
                                                                      {"max_errors", &L::max_errors},
                                                                      {"max_threads", &L::max_threads},
                                                                      {"load_timeout_ms", &L::load_timeout_ms},
                                                                      {"compute_timeout_ms", &L::compute_timeout_ms}};
  static constexpr std::pair<const char*, uint64_t L::*> kBytes[] = {{"max_model_bytes", &L::max_model_bytes},
                                                                     {"max_tensor_bytes", &L::max_tensor_bytes}};
  for (const auto& [key, field] : kCounts) {
    if (Status status = section.Integer(key, limits.*field); !status.ok()) return status;
  }
  for (const auto& [key, field] : kBytes) {
    if (Status status = section.Integer(key, limits.*field); !status.ok()) return status;
  }
  return Status();
}

template <typename T>
Result<uint32_t> ReadMask(const std::vector<std::string>& words, Result<T> (*parse)(std::string_view)) {
  uint32_t mask = 0;
  for (const std::string& word : words) {
    Result<T> number = parse(word);
    if (!number) return std::unexpected(std::move(number.error()));
    mask |= 1u << *number;
  }
  return mask;
}

Status ReadPolicy(const Section& section, Policy& policy) {
  section.Boolean("allow_load", policy.allow_load);
  section.Boolean("cpu_fallback", policy.cpu_fallback);
  policy.models = section.Strings("models");
  if (const auto word = section.Word("dialect")) {
    Result<wasinn_dialect> dialect = ParseDialect(*word);
    if (!dialect) return std::move(dialect.error());
    policy.dialect = *dialect;
  }
  if (const auto word = section.Word("inputs")) {
    Result<wasinn_inputs> inputs = ParseInputs(*word);
    if (!inputs) return std::move(inputs.error());
    policy.inputs = *inputs;
  }
  if (const auto words = section.Strings("encodings")) {
    Result<uint32_t> mask = ReadMask(*words, ParseEncoding);
    if (!mask) return std::move(mask.error());
    policy.encodings = *mask;
  }
  if (const auto words = section.Strings("targets")) {
    Result<uint32_t> mask = ReadMask(*words, ParseTarget);
    if (!mask) return std::move(mask.error());
    policy.targets = *mask;
  }
  return Status();
}

Result<ModelOptions> ReadModel(const std::string& name, const toml::table& values) {
  const Section section(values, "models." + name + ".");
  ModelOptions model{.name = name};
  section.String("path", model.path);
  if (model.path.empty()) return Fail(WASINN_INVALID_ARGUMENT, "model '{}' has no path in the configuration", name);
  if (Status status = section.Integer("version", model.version); !status.ok())
    return std::unexpected(std::move(status));
  section.Boolean("immutable", model.immutable);
  section.Boolean("preload", model.preload);
  section.String("backend", model.backend);
  if (const auto word = section.Word("encoding")) {
    Result<wasinn_encoding> encoding = ParseEncoding(*word);
    if (!encoding) return std::unexpected(std::move(encoding.error()));
    model.encoding = *encoding;
  }
  if (const auto word = section.Word("target")) {
    Result<wasinn_target> target = ParseTarget(*word);
    if (!target) return std::unexpected(std::move(target.error()));
    model.target = *target;
  }
  if (const toml::table* config = values["config"].as_table()) model.config = ToJson(*config);
  return model;
}

Status ReadLogLevel(const Section& section, wasinn_log_level& level) {
  const auto word = section.Word("level");
  if (!word) return Status();
  static constexpr std::pair<const char*, wasinn_log_level> kLevels[] = {{"error", WASINN_LOG_ERROR},
                                                                         {"warning", WASINN_LOG_WARNING},
                                                                         {"info", WASINN_LOG_INFO},
                                                                         {"debug", WASINN_LOG_DEBUG}};
  for (const auto& [name, number] : kLevels) {
    if (*word != name) continue;
    level = number;
    return Status();
  }
  return Error(WASINN_INVALID_ARGUMENT, "unknown log.level '{}'; known are error, warning, info, debug", *word);
}

}  // namespace

Status Config::Parse(std::string_view text, const std::string& name, const fs::path& folder) {
  toml::table values;
  try {
    values = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    return Error(WASINN_INVALID_ARGUMENT, "{}:{}:{}: {}", name, error.source().begin.line, error.source().begin.column,
                 error.description());
  }
  if (Status status = CheckKeys(values, folder); !status.ok()) {
    return Error(status.code(), "{}: {}", name, status.message());
  }
  MergeTables(values_, values);
  return Status();
}

Status Config::LoadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) return Error(WASINN_NOT_FOUND, "cannot read the configuration '{}'", path);
  return Parse(text.str(), path, fs::absolute(path).parent_path());
}

Status Config::LoadText(std::string_view text) { return Parse(text, "configuration", fs::current_path()); }

Status Config::Set(std::string_view key, std::string_view value) {
  const std::string name(key);
  if (key.find('\n') != key.npos || value.find('\n') != value.npos) {
    return Error(WASINN_INVALID_ARGUMENT, "the configuration key or value '{}' has a line break", key);
  }
  Status as_toml = Parse(fmt::format("{} = {}", key, value), name, fs::current_path());
  if (as_toml.ok()) return as_toml;
  const toml::value<std::string> text{std::string(value)};
  std::ostringstream quoted;
  quoted << toml::toml_formatter(text);
  Status as_string = Parse(fmt::format("{} = {}", key, quoted.str()), name, fs::current_path());
  return as_string.ok() ? std::move(as_string) : std::move(as_toml);
}

Result<HostOptions> Config::ToHostOptions() const {
  HostOptions options;
  const Section top(values_);
  if (Status status = top.Integer("threads", options.backends.threads); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  if (options.backends.threads == 0) options.backends.threads = std::max(1u, std::thread::hardware_concurrency());
  options.model_dirs = top.Strings("model_dirs").value_or(std::vector<std::string>());
  options.backends.folders = top.Strings("backend_dirs").value_or(std::vector<std::string>());
  if (std::string folder = DefaultBackendFolder(); !folder.empty()) options.backends.folders.push_back(folder);

  static const toml::table kEmpty;
  const auto section = [this](const char* name) {
    const toml::table* table = values_[name].as_table();
    return Section(table == nullptr ? kEmpty : *table, std::string(name) + ".");
  };
  Status status = ReadLimits(section("limits"), options.limits);
  if (status.ok()) status = ReadPolicy(section("policy"), options.policy);
  if (status.ok()) status = ReadLogLevel(section("log"), options.log_level);
  section("models").EachTable([&](const std::string& name, const toml::table& values) {
    if (!status.ok()) return;
    Result<ModelOptions> model = ReadModel(name, values);
    if (model) {
      options.models.push_back(std::move(*model));
    } else {
      status = std::move(model.error());
    }
  });
  section("backends").EachTable([&](const std::string& name, const toml::table& values) {
    options.backends.configs[name] = ToJson(values);
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return options;
}

}  // namespace wasinn::core
