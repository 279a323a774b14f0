// wasinn/wasinn.hpp - wasinn.h for C++17: the same calls, with owning classes, strings and vectors. Header-only. It
// needs no exceptions and throws none itself; std::string and std::vector may throw std::bad_alloc.
//
//     wasinn::Result<wasinn::Host> host = wasinn::Host::Create();
//     if (!host) return Fail(host.status().message());
//     wasinn::ModelOptions model;
//     model.path = "digits.onnx";
//     if (wasinn::Status status = host->AddModel("digits", model); !status.ok()) return Fail(status.message());
//     wasinn::Result<wasinn::Guest> guest = wasinn::Guest::Create(*host);
//     … link guest->get() with an engine's adapter, run …
//     guest->Close();  // before the engine's store or instance goes
//
// Conventions:
//  - A function that can fail returns a Status or a Result<T>. The compiler warns if the caller ignores it.
//  - Status, Config, Host and Guest are move-only, and own one object of wasinn.h each. get() lends it to the C
//    functions. A moved-from object may only be destroyed or assigned to.
//  - Threads as in wasinn.h: Host and Guest may be used from any thread at the same time. Any other object belongs to
//    one thread at a time.
//  - A C string ends at its first NUL. A std::string with a NUL inside is therefore an error (INVALID_ARGUMENT), also
//    in options.
#ifndef WASINN_WASINN_HPP_
#define WASINN_WASINN_HPP_

#include <wasinn/wasinn.h>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace wasinn {

using Code = wasinn_code;
using Dtype = wasinn_dtype;
using Target = wasinn_target;
using LogLevel = wasinn_log_level;

namespace internal {
template <auto kFree>
struct Free {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};

inline std::string ToString(const char* text) { return text == nullptr ? std::string() : std::string(text); }
}  // namespace internal

// How a call ended: fine, or a code and a message.
class [[nodiscard]] Status {
 public:
  // Success.
  Status() = default;
  // Owns the status that a function of wasinn.h returned. NULL is success.
  explicit Status(wasinn_status* status) : status_(status) {}

  bool ok() const { return status_ == nullptr; }
  Code code() const { return wasinn_status_code(status_.get()); }
  // "" for success. The text lives as long as this object.
  const char* message() const { return wasinn_status_message(status_.get()); }
  // The backend that reported the error, "" if none did.
  const char* backend() const { return wasinn_status_backend(status_.get()); }

  const wasinn_status* get() const { return status_.get(); }
  // Gives the C object to the caller, for a function that returns a wasinn_status itself.
  wasinn_status* release() { return status_.release(); }

 private:
  std::unique_ptr<wasinn_status, internal::Free<wasinn_status_free>> status_;
};

// A value, or a Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  // Not explicit, so that a function can end with `return value;` or `return status;`. The status must not be ok().
  Result(T value) : result_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Result(Status status) : result_(std::move(status)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return std::holds_alternative<T>(result_); }
  explicit operator bool() const { return ok(); }

  // Only if ok().
  T& value() & {
    assert(ok());
    return *std::get_if<T>(&result_);
  }
  const T& value() const& {
    assert(ok());
    return *std::get_if<T>(&result_);
  }
  T&& value() && { return std::move(value()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // Why there is no value; a success if there is one. To return it, write std::move(result).status().
  const Status& status() const& {
    static const Status success;
    const Status* status = std::get_if<Status>(&result_);
    return status != nullptr ? *status : success;
  }
  Status status() && {
    Status* status = std::get_if<Status>(&result_);
    return status != nullptr ? std::move(*status) : Status();
  }

 private:
  std::variant<T, Status> result_;
};

namespace internal {
// An error if `text` has a NUL inside: as a C string it would end there.
inline Status CheckText(const char* what, const std::string& text) {
  const size_t nul = text.find('\0');
  if (nul == std::string::npos) return Status();
  const std::string message = std::string(what) + " has a NUL inside, after '" + text.substr(0, nul) + "'";
  return Status(wasinn_status_new(WASINN_INVALID_ARGUMENT, message.c_str()));
}

inline Status CheckTexts(const char* what, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    if (Status status = CheckText(what, text); !status.ok()) return status;
  }
  return Status();
}

inline Status CheckTexts(const char* what, const std::map<std::string, std::string>& names) {
  for (const auto& [model, pipeline] : names) {
    if (Status status = CheckText(what, model); !status.ok()) return status;
    if (Status status = CheckText(what, pipeline); !status.ok()) return status;
  }
  return Status();
}

// Calls the function of wasinn.h with the C string of `text`.
template <typename Function>
Status CallWith(const char* what, const std::string& text, Function function) {
  if (Status status = CheckText(what, text); !status.ok()) return status;
  return Status(function(text.c_str()));
}
}  // namespace internal

// Called from any thread, also concurrently, with a step that has ended. Must not call wasinn, must not throw.
using SpanFunction = std::function<void(const wasinn_span& span)>;

// Settings of a host; docs/configuration.md lists the keys. A later setting replaces an earlier one.
class Config {
 public:
  Config() : config_(wasinn_config_new()) {}

  // Relative paths in the file are relative to the file's folder.
  Status LoadFile(const std::string& path) {
    return internal::CallWith("the path", path, [&](const char* c) { return wasinn_config_load_file(get(), c); });
  }
  // Relative paths are relative to the working directory, here and in Set.
  Status LoadToml(const std::string& toml) {
    return internal::CallWith("the TOML text", toml, [&](const char* c) { return wasinn_config_load_toml(get(), c); });
  }
  // `key` is dotted: "limits.max_graphs". `value` is a TOML value; any other text is a string.
  Status Set(const std::string& key, const std::string& value) {
    if (Status status = internal::CheckText("the key", key); !status.ok()) return status;
    return internal::CallWith("the value", value,
                              [&](const char* c) { return wasinn_config_set(get(), key.c_str(), c); });
  }
  // Each host that is made from this config afterwards calls `function` for its spans, until the host and all its
  // guests are gone. An empty function: nobody is called.
  void OnSpan(SpanFunction function) {
    spans_ = function ? std::make_shared<SpanFunction>(std::move(function)) : nullptr;
    const auto tell = [](void* user, const wasinn_span* span) { (*static_cast<const SpanFunction*>(user))(*span); };
    wasinn_config_on_span(get(), spans_ ? +tell : nullptr, spans_.get());
  }

  wasinn_config* get() { return config_.get(); }
  const wasinn_config* get() const { return config_.get(); }

 private:
  friend class Host;
  std::shared_ptr<SpanFunction> spans_;
  std::unique_ptr<wasinn_config, internal::Free<wasinn_config_free>> config_;
};

// What one guest may use. Start from Host::limits(): a new Limits allows nothing and has no deadline.
struct Limits : wasinn_limits {
  Limits() : wasinn_limits() { struct_size = sizeof(wasinn_limits); }
};

// What one guest may ask for; see wasinn_policy. Start from Host::policy(): a new Policy allows registered models only.
struct Policy {
  wasinn_load load = WASINN_LOAD_DENY;
  bool cpu_fallback = false;
  uint32_t targets = 0;                               // 1u << Target for each that load accepts
  std::optional<std::vector<std::string>> models;     // names for load_by_name. Nothing: every registered one
  std::optional<std::vector<std::string>> encodings;  // formats that load accepts. Nothing: every one
  wasinn_dialect dialect = WASINN_DIALECT_DEFAULT;
  std::string tenant;  // empty: the guest shares workers with nobody
  uint32_t weight = 1;
  std::vector<std::string> allowed_outbound_hosts;
  bool isolated_gpu = false;
};

// The section [engine] of the settings.
struct EngineOptions : wasinn_engine_options {
  EngineOptions() : wasinn_engine_options() { struct_size = sizeof(wasinn_engine_options); }
};

// How the host computes inferences of separate guests together; see wasinn_batching.
struct Batching {
  uint32_t max_batch_size = 0;  // 0: no batching
  std::vector<uint32_t> preferred_batch_size;
  uint32_t max_queue_delay_microseconds = 0;
  uint32_t instance_count = 0;
};

// One model of a pipeline; see wasinn_step.
struct Step {
  std::string model_name;  // must be registered when the pipeline is loaded
  // From the model's name of a tensor to the pipeline's name. Empty: the pipeline uses the model's names.
  std::map<std::string, std::string> input_map, output_map;
};

namespace internal {
// data() is never NULL, which the C API takes for no list: the size is that of `strings`, and a NULL follows.
inline std::vector<const char*> ToC(const std::vector<std::string>& strings) {
  std::vector<const char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& string : strings) pointers.push_back(string.c_str());
  pointers.push_back(nullptr);
  return pointers;
}

inline std::vector<std::string> FromC(const char* const* strings, size_t n) {
  return n == 0 ? std::vector<std::string>() : std::vector<std::string>(strings, strings + n);
}

inline Policy FromC(const wasinn_policy& c) {
  Policy policy;
  policy.load = c.load;
  policy.cpu_fallback = c.cpu_fallback;
  policy.targets = c.targets;
  if (c.models != nullptr) policy.models = FromC(c.models, c.n_models);
  if (c.encodings != nullptr) policy.encodings = FromC(c.encodings, c.n_encodings);
  policy.dialect = c.dialect;
  policy.tenant = ToString(c.tenant);
  policy.weight = c.weight;
  policy.allowed_outbound_hosts = FromC(c.allowed_outbound_hosts, c.n_allowed_outbound_hosts);
  policy.isolated_gpu = c.isolated_gpu;
  return policy;
}

// The policy as wasinn_guest_options takes it. It points into `policy`, which must live longer.
class PolicyAsC {
 public:
  explicit PolicyAsC(const Policy& policy) : hosts_(ToC(policy.allowed_outbound_hosts)) {
    c_.struct_size = sizeof c_;
    c_.load = policy.load;
    c_.cpu_fallback = policy.cpu_fallback;
    c_.targets = policy.targets;
    if (policy.models) {
      models_ = ToC(*policy.models);
      c_.models = models_.data();
      c_.n_models = policy.models->size();
    }
    if (policy.encodings) {
      encodings_ = ToC(*policy.encodings);
      c_.encodings = encodings_.data();
      c_.n_encodings = policy.encodings->size();
    }
    c_.dialect = policy.dialect;
    c_.tenant = policy.tenant.c_str();
    c_.weight = policy.weight;
    c_.allowed_outbound_hosts = hosts_.data();
    c_.n_allowed_outbound_hosts = policy.allowed_outbound_hosts.size();
    c_.isolated_gpu = policy.isolated_gpu;
  }
  PolicyAsC(const PolicyAsC&) = delete;
  PolicyAsC& operator=(const PolicyAsC&) = delete;
  const wasinn_policy* get() const { return &c_; }

 private:
  std::vector<const char*> models_, encodings_, hosts_;
  wasinn_policy c_ = {};
};

inline Status CheckTexts(const Policy& policy) {
  if (Status status = CheckText("policy.tenant", policy.tenant); !status.ok()) return status;
  for (const auto& [what, list] :
       {std::pair{"policy.models", &policy.models}, std::pair{"policy.encodings", &policy.encodings}}) {
    if (!*list) continue;
    if (Status status = CheckTexts(what, **list); !status.ok()) return status;
  }
  return CheckTexts("policy.allowed_outbound_hosts", policy.allowed_outbound_hosts);
}

// The steps as wasinn_model_options takes them. They point into `steps`, which must live longer.
class Steps {
 public:
  explicit Steps(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      names_.push_back(ToC(step.input_map));
      names_.push_back(ToC(step.output_map));
    }
    for (size_t i = 0; i < steps.size(); ++i) {
      wasinn_step c = {};
      c.struct_size = sizeof c;
      c.model_name = steps[i].model_name.c_str();
      c.input_map = names_[2 * i].data();
      c.n_input_map = names_[2 * i].size();
      c.output_map = names_[2 * i + 1].data();
      c.n_output_map = names_[2 * i + 1].size();
      steps_.push_back(c);
    }
    pointers_.reserve(steps_.size());
    for (const wasinn_step& step : steps_) pointers_.push_back(&step);
  }
  const wasinn_step* const* data() const { return pointers_.data(); }

 private:
  static std::vector<wasinn_tensor_name> ToC(const std::map<std::string, std::string>& map) {
    std::vector<wasinn_tensor_name> names;
    names.reserve(map.size());
    for (const auto& [model, pipeline] : map) names.push_back({model.c_str(), pipeline.c_str()});
    return names;
  }

  std::vector<std::vector<wasinn_tensor_name>> names_;
  std::vector<wasinn_step> steps_;
  std::vector<const wasinn_step*> pointers_;
};
}  // namespace internal

// A model that guests load by name: a file, a folder, bytes, or a pipeline of models. See wasinn_model_options.
struct ModelOptions {
  std::string path;  // a model file, or a folder in the layout of Triton and Wasmtime; empty with `parts` or `steps`
  std::vector<wasinn_bytes> parts;  // bytes, one element for each part of the model; AddModel copies them
  std::string encoding;             // the format's name; empty: the file's name or the bytes tell it
  Target target = WASINN_CPU;
  uint32_t version = 0;  // guests ask for "NAME:2"; 0: the folder's versions, or 1
  std::string config;    // JSON object for the backend; empty: {}
  bool isolate = false;  // run it in a worker of its own; false: the host's setting isolate_models decides
  uint32_t warm_up = 0;  // computes on zeros at the end of a load, before any guest gets the model
  Batching batching;
  bool immutable = false;  // the file never changes: map it, do not copy it
  bool preload = false;    // compile in AddModel, which then returns the model's errors
  // A pipeline, in place of path and parts. One compute of it computes these models, in this order.
  std::vector<Step> steps;
  std::vector<std::string> inputs;   // the pipeline's inputs; empty: the tensors that no step produces
  std::vector<std::string> outputs;  // the pipeline's outputs; empty: the tensors that no step takes
};

namespace internal {
inline Status CheckTexts(const ModelOptions& options) {
  for (const auto& [what, text] : {std::pair{"the path", &options.path}, std::pair{"the encoding", &options.encoding},
                                   std::pair{"the config", &options.config}}) {
    if (Status status = CheckText(what, *text); !status.ok()) return status;
  }
  for (const Step& step : options.steps) {
    if (Status status = CheckText("a step's model name", step.model_name); !status.ok()) return status;
    if (Status status = CheckTexts("a name in input_map", step.input_map); !status.ok()) return status;
    if (Status status = CheckTexts("a name in output_map", step.output_map); !status.ok()) return status;
  }
  if (Status status = CheckTexts("an input's name", options.inputs); !status.ok()) return status;
  return CheckTexts("an output's name", options.outputs);
}
}  // namespace internal

// A registered model.
struct ModelInfo {
  std::string name;
  uint32_t version;
  std::string encoding;  // empty if only the bytes can tell it and nobody has looked at them yet
  Target target;
  std::string path;   // empty if it came as bytes
  bool loaded;        // compiled and ready
  uint64_t compiles;  // how often it was compiled
  // As in BackendReport; empty until the model is loaded.
  std::string backend, framework, library;
  std::vector<std::string> steps;  // the models of a pipeline's steps; empty: no pipeline
  uint32_t max_batch_size = 0;     // rows of one batch; 0: no batches
};

// One input or output of a model.
struct Io {
  std::string name;
  Dtype dtype;                // WASINN_DTYPE_UNKNOWN: matches any
  std::string type_name;      // the framework's own word for the type; may be empty
  uint32_t flags;             // WASINN_IO_*
  bool has_rank;              // false: any shape matches, and dims is empty
  std::vector<int64_t> dims;  // -1: any size matches
};

// The inputs and outputs of a model, in the model's order.
struct Signature {
  std::vector<Io> inputs;
  std::vector<Io> outputs;
};

// A backend that the host knows.
struct BackendReport {
  std::string name;
  std::string encodings;  // the formats that it loads, comma-separated
  bool available;
  std::string framework;   // name and version; empty if not available
  std::string devices;     // comma-separated; empty if not available
  std::string library;     // the framework's file; empty if not available
  std::string missing;     // what is missing; empty if available
  std::string install;     // the command that installs it; empty if available, or if no command would help
  const wasinn_key* keys;  // the configuration keys that it knows; valid for the life of the OS process
  size_t n_keys;
  std::string looked_for;  // the files that were looked for; empty if available
};

// Called from any thread, also concurrently, with one line without control characters. Must not call wasinn, must not
// throw.
using LogFunction = std::function<void(LogLevel level, const char* message)>;

// Everything that guests in one OS process share: backends, models, default limits and policy. A Host may be destroyed
// before its guests: they keep alive what they need.
class Host {
 public:
  Host(Host&&) noexcept = default;
  // The old host is freed before its functions for the log and for spans: it calls them until its end.
  Host& operator=(Host&& other) noexcept {
    host_ = std::move(other.host_);
    log_ = std::move(other.log_);
    spans_ = std::move(other.spans_);
    return *this;
  }

  // `config` is read now and not kept. `log` may be empty.
  static Result<Host> Create(const Config& config = Config(), LogFunction log = nullptr) {
    Host host;
    if (log) host.log_ = std::make_shared<LogFunction>(std::move(log));
    wasinn_host* created = nullptr;
    Status status(wasinn_host_new(config.get(), host.log_ ? &Log : nullptr, host.log_.get(), &created));
    if (!status.ok()) return status;
    host.host_.reset(created);
    host.spans_ = config.spans_;
    return host;
  }

  // The default limits of its guests.
  Limits limits() const {
    Limits limits;
    (void)Status(wasinn_host_limits(get(), &limits));  // its struct_size is set
    return limits;
  }
  // The default policy of its guests.
  Policy policy() const {
    wasinn_policy c = {};
    c.struct_size = sizeof c;
    (void)Status(wasinn_host_policy(get(), &c));
    return internal::FromC(c);
  }
  // The section [engine] of its settings, for a program that runs guests.
  EngineOptions engine_options() const {
    EngineOptions options;
    (void)Status(wasinn_host_engine_options(get(), &options));
    return options;
  }

  // Registers a model under a name, or replaces the model of that name. Guests keep the graphs that they hold.
  Status AddModel(const std::string& name, const ModelOptions& options) {
    if (Status status = internal::CheckTexts(options); !status.ok()) return status;
    wasinn_model_options c = {};
    c.struct_size = sizeof c;
    c.path = options.path.empty() ? nullptr : options.path.c_str();
    c.bytes = options.parts.data();
    c.n_bytes = options.parts.size();
    c.encoding = options.encoding.empty() ? nullptr : options.encoding.c_str();
    c.target = options.target;
    c.version = options.version;
    c.config = options.config.empty() ? nullptr : options.config.c_str();
    c.immutable = options.immutable;
    c.isolate = options.isolate;
    c.preload = options.preload;
    c.warm_up = options.warm_up;
    const wasinn_batching batching = {sizeof(wasinn_batching),
                                      options.batching.max_batch_size,
                                      options.batching.preferred_batch_size.data(),
                                      options.batching.preferred_batch_size.size(),
                                      options.batching.max_queue_delay_microseconds,
                                      options.batching.instance_count};
    c.batching = &batching;
    const internal::Steps steps(options.steps);
    const std::vector<const char*> inputs = internal::ToC(options.inputs), outputs = internal::ToC(options.outputs);
    c.steps = steps.data();
    c.n_steps = options.steps.size();
    c.inputs = inputs.data();
    c.n_inputs = options.inputs.size();
    c.outputs = outputs.data();
    c.n_outputs = options.outputs.size();
    return internal::CallWith("the model's name", name,
                              [&](const char* text) { return wasinn_host_add_model(get(), text, &c); });
  }
  // Checks whether `word` may be a model's encoding. The error lists the known words.
  Status CheckEncoding(const std::string& word) const {
    return internal::CallWith("the encoding", word,
                              [&](const char* c) { return wasinn_host_check_encoding(get(), c); });
  }
  // Registers every model of a folder: NAME/model.onnx, NAME/1/model.onnx.
  Status AddModels(const std::string& folder) {
    return internal::CallWith("the folder", folder, [&](const char* c) { return wasinn_host_add_models(get(), c); });
  }
  // Removes all versions of a model, or one version: "NAME:2". Guests that hold it keep it.
  Status RemoveModel(const std::string& name) {
    return internal::CallWith("the model's name", name,
                              [&](const char* c) { return wasinn_host_remove_model(get(), c); });
  }
  // The next load reads and compiles the model's files again, as they are then. Guests that hold the old one keep it.
  Status UnloadModel(const std::string& name) {
    return internal::CallWith("the model's name", name,
                              [&](const char* c) { return wasinn_host_unload_model(get(), c); });
  }
  // Compiles its files anew, as they are now. Until that is done, and if it fails, loads get what they got before.
  Status ReloadModel(const std::string& name) {
    return internal::CallWith("the model's name", name,
                              [&](const char* c) { return wasinn_host_reload_model(get(), c); });
  }

  // Every registered model, sorted by name and version.
  std::vector<ModelInfo> Models() const {
    std::vector<ModelInfo> models;
    wasinn_host_models(
        get(),
        [](void* user, const wasinn_model_info* info) {
          const bool tells_batches =  // a library may be older
              info->struct_size >= offsetof(wasinn_model_info, max_batch_size) + sizeof info->max_batch_size;
          static_cast<std::vector<ModelInfo>*>(user)->push_back(
              {internal::ToString(info->name), info->version, internal::ToString(info->encoding), info->target,
               internal::ToString(info->path), info->loaded, info->compiles, internal::ToString(info->backend),
               internal::ToString(info->framework), internal::ToString(info->library),
               std::vector<std::string>(info->steps, info->steps + info->n_steps),
               tells_batches ? info->max_batch_size : 0});
        },
        &models);
    return models;
  }

  // As wasinn_host_stop_loads.
  void StopLoads() const { wasinn_host_stop_loads(get()); }

  // The inputs and outputs of a registered model. Loads the model if it is not loaded yet.
  Result<Signature> Inspect(const std::string& name) const {
    Signature signature;
    Status status = internal::CallWith(
        "the model's name", name, [&](const char* c) { return wasinn_host_inspect(get(), c, &AddIo, &signature); });
    if (!status.ok()) return status;
    return signature;
  }

  // Every known backend. Opens each backend whose framework is there.
  std::vector<BackendReport> Backends() const {
    std::vector<BackendReport> backends;
    wasinn_host_backends(
        get(),
        [](void* user, const wasinn_backend_report* report) {
          using internal::ToString;
          static_cast<std::vector<BackendReport>*>(user)->push_back(
              {ToString(report->name), ToString(report->encodings), report->available, ToString(report->framework),
               ToString(report->devices), ToString(report->library), ToString(report->missing),
               ToString(report->install), report->keys, report->n_keys, ToString(report->looked_for)});
        },
        &backends);
    return backends;
  }

  // The host's metrics, in Prometheus' text format; see wasinn_host_metrics.
  Result<std::string> Metrics() const {
    std::string metrics;
    Status status(wasinn_host_metrics(
        get(), [](void* user, const char* text, size_t size) { static_cast<std::string*>(user)->assign(text, size); },
        &metrics));
    if (!status.ok()) return status;
    return metrics;
  }

  wasinn_host* get() const { return host_.get(); }

 private:
  friend class Guest;
  Host() = default;

  static void Log(void* user, wasinn_log_level level, const char* message) {
    (*static_cast<const LogFunction*>(user))(level, message);
  }

  static void AddIo(void* user, bool is_output, uint32_t, const wasinn_io* io) {
    auto* signature = static_cast<Signature*>(user);
    Io copy{internal::ToString(io->name),
            static_cast<Dtype>(io->dtype),
            internal::ToString(io->type_name),
            io->flags,
            io->rank >= 0,
            {}};
    if (io->rank > 0) copy.dims.assign(io->dims, io->dims + io->rank);
    (is_output ? signature->outputs : signature->inputs).push_back(std::move(copy));
  }

  // Before host_, so that they go after it: it calls them until the last guest is freed.
  std::shared_ptr<LogFunction> log_;
  std::shared_ptr<SpanFunction> spans_;
  std::unique_ptr<wasinn_host, internal::Free<wasinn_host_free>> host_;
};

// What is special for one guest.
struct GuestOptions {
  std::string name;                // for the log
  const Limits* limits = nullptr;  // NULL: the host's
  const Policy* policy = nullptr;  // NULL: the host's
  // As in wasinn_guest_options.
  void (*print)(void* user, const char* text, size_t size) = nullptr;
  void* print_user = nullptr;
};

// One guest program. All its instances and threads share its handles. Close it before the engine's store or instance
// goes. The destructor closes it, too.
class Guest {
 public:
  Guest(Guest&&) noexcept = default;
  // The old guest is freed before the functions that it calls, as in Host.
  Guest& operator=(Guest&& other) noexcept {
    guest_ = std::move(other.guest_);
    log_ = std::move(other.log_);
    spans_ = std::move(other.spans_);
    return *this;
  }

  static Result<Guest> Create(const Host& host, const GuestOptions& options = GuestOptions()) {
    if (Status status = internal::CheckText("the guest's name", options.name); !status.ok()) return status;
    wasinn_guest_options c = {};
    c.struct_size = sizeof c;
    c.name = options.name.empty() ? nullptr : options.name.c_str();
    c.limits = options.limits;
    std::optional<internal::PolicyAsC> policy;
    if (options.policy != nullptr) {
      if (Status status = internal::CheckTexts(*options.policy); !status.ok()) return status;
      c.policy = policy.emplace(*options.policy).get();
    }
    c.print = options.print;
    c.print_user = options.print_user;
    wasinn_guest* created = nullptr;
    Status status(wasinn_guest_new(host.get(), &c, &created));
    if (!status.ok()) return status;
    return Guest(host, created);
  }

  // Refuses new calls, cancels running ones, and waits until no call is inside. May be called more than once.
  void Close() { wasinn_guest_close(get()); }
  // Refuses new calls, cancels running ones, and interrupts the run. Does not wait. Any thread.
  void Stop() { wasinn_guest_stop(get()); }

  // What the guest holds now, and what it has done so far.
  wasinn_guest_stats Statistics() const {
    wasinn_guest_stats stats = {};
    stats.struct_size = sizeof stats;
    (void)Status(wasinn_guest_statistics(get(), &stats));
    return stats;
  }

  wasinn_guest* get() const { return guest_.get(); }

 private:
  Guest(const Host& host, wasinn_guest* guest) : log_(host.log_), spans_(host.spans_), guest_(guest) {}

  std::shared_ptr<LogFunction> log_;
  std::shared_ptr<SpanFunction> spans_;
  std::unique_ptr<wasinn_guest, internal::Free<wasinn_guest_free>> guest_;
};

}  // namespace wasinn

#endif  // WASINN_WASINN_HPP_
