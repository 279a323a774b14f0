#include <dlfcn.h>

#include "core/host/config.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "core/runtime/processors.h"
#include "core/words.h"

namespace wasinn::core {
namespace {

namespace fs = std::filesystem;

std::string ToJson(const toml::table& table) {
  std::ostringstream text;
  text << toml::json_formatter(table);
  return text.str();
}

// Reads one section. Types, ranges and words were checked before.
class Section {
 public:
  explicit Section(const toml::table& values) : values_(values) {}

  template <typename T>
  void Integer(const char* key, T& out) const {
    out = static_cast<T>(values_[key].value_or<int64_t>(static_cast<int64_t>(out)));
  }
  void Boolean(const char* key, bool& out) const { out = values_[key].value_or(out); }
  void String(const char* key, std::string& out) const { out = values_[key].value_or(out); }
  template <typename T>
  void Word(const char* key, Result<T> (*parse)(std::string_view), T& out) const {
    if (const auto word = values_[key].value<std::string>()) out = *parse(*word);
  }
  // Sets one bit for each word.
  template <typename T>
  void Words(const char* key, Result<T> (*parse)(std::string_view), uint32_t& mask) const {
    const auto words = Strings(key);
    if (!words) return;
    mask = 0;
    for (const std::string& word : *words) mask |= 1u << *parse(word);
  }
  std::optional<std::vector<std::string>> Strings(const char* key) const {
    const toml::array* array = values_[key].as_array();
    if (array == nullptr) return std::nullopt;
    std::vector<std::string> strings;
    for (const toml::node& item : *array) strings.push_back(item.value_or(std::string()));
    return strings;
  }

 private:
  const toml::table& values_;
};

void ReadLimits(const Section& section, wasinn_limits& limits) {
  using L = wasinn_limits;
  static constexpr std::pair<const char*, uint32_t L::*> kCounts[] = {{"max_graphs", &L::max_graphs},
                                                                      {"max_contexts", &L::max_contexts},
                                                                      {"max_builders", &L::max_builders},
                                                                      {"max_name_bytes", &L::max_name_bytes},
                                                                      {"max_log_messages", &L::max_log_messages},
                                                                      {"max_tensors", &L::max_tensors},
                                                                      {"max_errors", &L::max_errors},
                                                                      {"run_timeout_ms", &L::run_timeout_ms},
                                                                      {"load_timeout_ms", &L::load_timeout_ms},
                                                                      {"compute_timeout_ms", &L::compute_timeout_ms}};
  static constexpr std::pair<const char*, uint64_t L::*> kBytes[] = {{"max_model_bytes", &L::max_model_bytes},
                                                                     {"max_tensor_bytes", &L::max_tensor_bytes},
                                                                     {"max_memory_bytes", &L::max_memory_bytes}};
  for (const auto& [key, field] : kCounts) section.Integer(key, limits.*field);
  for (const auto& [key, field] : kBytes) section.Integer(key, limits.*field);
}

void ReadEngineLimits(const Section& section, wasinn_engine_limits& limits) {
  section.Integer("max_threads", limits.max_threads);
  section.Integer("max_table_elements", limits.max_table_elements);
  section.Integer("max_fuel", limits.max_fuel);
}

void ReadPolicy(const Section& section, Policy& policy) {
  section.Word("load", ParseLoad, policy.load);
  section.Boolean("cpu_fallback", policy.cpu_fallback);
  section.Boolean("isolated_gpu", policy.isolated_gpu);
  policy.models = section.Strings("models");
  section.Word("dialect", ParseDialect, policy.dialect);
  policy.encodings = section.Strings("encodings");
  if (policy.encodings) std::ranges::transform(*policy.encodings, policy.encodings->begin(), FormatName);
  section.Words("targets", ParseTarget, policy.targets);
  section.String("tenant", policy.tenant);
  section.Integer("weight", policy.weight);
  policy.allowed_outbound_hosts = section.Strings("allowed_outbound_hosts").value_or(std::vector<std::string>());
}

std::map<std::string, std::vector<uint32_t>> ReadShapes(const toml::table* table) {
  std::map<std::string, std::vector<uint32_t>> shapes;
  if (table == nullptr) return shapes;
  for (auto&& [name, dims] : *table) {
    std::vector<uint32_t>& shape = shapes[std::string(name.str())];
    for (const toml::node& dim : *dims.as_array()) shape.push_back(dim.value_or(uint32_t{0}));
  }
  return shapes;
}

Batching ReadBatching(const toml::table& values) {
  const Section section(values);
  Batching batching;
  section.Integer("max_batch_size", batching.max_batch_size);
  section.Integer("max_queue_delay_microseconds", batching.max_queue_delay_microseconds);
  section.Integer("instance_count", batching.instance_count);
  if (const toml::array* sizes = values["preferred_batch_size"].as_array()) {
    for (const toml::node& size : *sizes) batching.preferred_batch_size.push_back(size.value_or(uint32_t{0}));
  }
  return batching;
}

pipeline::Names ReadNames(const toml::table* table) {
  pipeline::Names names;
  if (table == nullptr) return names;
  for (auto&& [name, tensor] : *table) names.emplace(name.str(), tensor.value_or(std::string()));
  return names;
}

Status ReadPipeline(const std::string& name, const toml::table& values, pipeline::Spec& pipeline) {
  const Section section(values);
  pipeline.inputs = section.Strings("inputs").value_or(std::vector<std::string>());
  pipeline.outputs = section.Strings("outputs").value_or(std::vector<std::string>());
  const toml::array* steps = values["step"].as_array();
  if (steps == nullptr) {
    if (pipeline.inputs.empty() && pipeline.outputs.empty()) return Status();
    return Error(WASINN_ERROR_INVALID_ARGUMENT,
                 "configuration keys 'inputs' and 'outputs' of 'models.{}' are for one with 'step'", name);
  }
  for (const toml::node& item : *steps) {
    const toml::table& table = *item.as_table();
    pipeline::StepSpec& step = pipeline.steps.emplace_back();
    Section(table).String("model_name", step.model_name);
    if (step.model_name.empty()) {
      return Error(WASINN_ERROR_INVALID_ARGUMENT, "configuration key 'models.{}.step[{}].model_name' is missing", name,
                   pipeline.steps.size() - 1);
    }
    step.input_map = ReadNames(table["input_map"].as_table());
    step.output_map = ReadNames(table["output_map"].as_table());
  }
  return Status();
}

Result<ModelOptions> ReadModel(const std::string& name, const toml::table& values) {
  const Section section(values);
  ModelOptions model{.name = name};
  section.String("path", model.path);
  RETURN_IF_ERROR(ReadPipeline(name, values, model.pipeline));
  if (model.path.empty() && model.pipeline.empty()) {
    return Fail(WASINN_ERROR_INVALID_ARGUMENT, "configuration key 'models.{}.path' is missing, or 'step'", name);
  }
  section.Integer("version", model.version);
  section.Boolean("immutable", model.immutable);
  section.Boolean("preload", model.preload);
  model.isolate = values["isolate"].value<bool>();
  section.Integer("warm_up", model.warm_up.computes);
  model.warm_up.shapes = ReadShapes(values["warm_up_shapes"].as_table());
  if (const toml::table* batching = values["batching"].as_table()) model.batching = ReadBatching(*batching);
  section.String("backend", model.backend);
  section.String("encoding", model.encoding);
  section.Word("target", ParseTarget, model.target);
  if (const toml::table* config = values["config"].as_table()) model.config = ToJson(*config);
  return model;
}

// The folder of the backends, relative to the library: lib/wasinn. "" if it cannot be found.
std::string DefaultBackendFolder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&DefaultBackendFolder), &info) == 0 || info.dli_fname == nullptr)
    return "";
  std::error_code error;
  const fs::path library = fs::canonical(info.dli_fname, error);
  return error ? "" : (library.parent_path() / "wasinn").string();
}

// "" if the folder was removed: paths stay relative.
fs::path CurrentFolder() {
  std::error_code ignored;
  return fs::current_path(ignored);
}

}  // namespace

Status Config::Parse(std::string_view text, const std::string& name, const fs::path& folder) {
  toml::table values;
  try {
    values = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "{}:{}:{}: {}", name, error.source().begin.line,
                 error.source().begin.column, error.description());
  }
  return At(name, Add(values, folder));
}

Status Config::Add(toml::table& values, const fs::path& folder) {
  RETURN_IF_ERROR(CheckKeys(values, folder));
  MergeTables(values_, values);
  return Status();
}

Status Config::LoadFile(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  const bool has_text = file.peek() != std::ifstream::traits_type::eof();  // an empty file only fails `<<`
  if (!file.is_open() || file.bad() || (has_text && !(text << file.rdbuf()))) {
    return Error(WASINN_ERROR_NOT_FOUND, "cannot read the configuration '{}': {}", path, std::strerror(errno));
  }
  return Parse(text.str(), path, fs::absolute(path).parent_path());
}

Status Config::LoadText(std::string_view text) { return Parse(text, "configuration", CurrentFolder()); }

Status Config::Set(std::string_view key, std::string_view value) {
  const std::string name(key);
  if (key.find('\n') != key.npos || value.find('\n') != value.npos) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "the configuration key or value '{}' has a line break", key);
  }
  // `info` is no TOML value, and means the same as "info".
  std::ostringstream quoted;
  quoted << toml::toml_formatter(toml::value<std::string>(std::string(value)));
  Status refused;
  for (const std::string& form : {std::string(value), quoted.str()}) {
    try {
      toml::table values = toml::parse(fmt::format("{} = {}", key, form), name);
      Status status = Add(values, CurrentFolder());
      if (status.ok()) return status;
      if (refused.ok()) refused = std::move(status);
    } catch (const toml::parse_error&) {
      continue;
    }
  }
  if (!refused.ok()) return refused;
  return Error(WASINN_ERROR_INVALID_ARGUMENT, "'{}' is not a configuration key", key);
}

Result<HostOptions> Config::ToHostOptions() const {
  HostOptions options;
  const Section top(values_);
  top.Integer("threads", options.backends.threads);
  top.Integer("max_computes", options.max_computes);
  top.Integer("max_guest_computes", options.max_guest_computes);
  top.Integer("call_threads", options.call_threads);
  top.Integer("max_total_bytes", options.max_total_bytes);
  if (options.backends.threads == 0) {
    options.backends.threads = std::min(Processors(), HostOptions::kMaxThreads);
  }
  top.Boolean("isolate_models", options.isolate_models);
  top.Boolean("metrics", options.metrics.times);
  options.metrics.span = span_;
  options.metrics.user = span_user_;
  options.model_dirs = top.Strings("model_dirs").value_or(std::vector<std::string>());
  options.backends.folders = top.Strings("backend_dirs").value_or(std::vector<std::string>());
  options.backends.named_folders = options.backends.folders.size();
  options.backends.order = top.Strings("backend_order").value_or(std::vector<std::string>());
  if (std::string folder = DefaultBackendFolder(); !folder.empty()) {
    options.backends.folders.push_back(folder);
    options.backends.worker = folder + "/wasinn-worker";
  }
  std::string worker;
  top.String("worker", worker);
  options.backends.names_worker = !worker.empty();
  if (options.backends.names_worker) options.backends.worker = std::move(worker);
  top.Integer("max_workers", options.backends.max_workers);
  top.Boolean("spare_workers", options.backends.spare_workers);
  top.Integer("worker_spin_us", options.backends.worker_spin_us);
  top.String("workers_cgroup", options.backends.workers_cgroup);

  static const toml::table kEmpty;
  const auto table = [this](const char* name) -> const toml::table& {
    const toml::table* found = values_[name].as_table();
    return found == nullptr ? kEmpty : *found;
  };
  const auto section = [&table](const char* name) { return Section(table(name)); };
  ReadLimits(section("limits"), options.limits);
  ReadEngineLimits(section("limits"), options.engine_limits);
  ReadPolicy(section("policy"), options.policy);
  section("engine").Boolean("allow_precompiled", options.engine.allow_precompiled);
  section("engine").Integer("pool_instances", options.engine.pool_instances);
  section("engine").Integer("pool_memory_bytes", options.engine.pool_memory_bytes);
  section("engine").Integer("max_compile_bytes", options.engine.max_compile_bytes);
  section("engine").Integer("compile_timeout_ms", options.engine.compile_timeout_ms);
  section("log").Word("level", ParseLogLevel, options.log_level);
  section("log").Integer("max_guest_lines", options.max_guest_lines);
  for (auto&& [name, values] : table("models")) {
    ASSIGN_OR_RETURN(ModelOptions model, ReadModel(std::string(name.str()), *values.as_table()));
    options.models.push_back(std::move(model));
  }
  for (auto&& [name, values] : table("backends")) {
    options.backends.configs[std::string(name.str())] = ToJson(*values.as_table());
  }
  return options;
}

}  // namespace wasinn::core
