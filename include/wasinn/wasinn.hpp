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

#include <wasinn/options.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wasinn {

// A registered model.
struct ModelInfo {
  std::string name;
  uint32_t version;
  std::string encoding;  // empty if only the bytes show it and they were not read yet
  Target target;
  std::string path;   // empty if it came as bytes
  bool loaded;        // compiled and ready
  uint64_t compiles;  // how often it was compiled
  // As in BackendReport; empty until the model is loaded.
  std::string backend, framework, library;
  std::vector<std::string> steps;  // the models of a pipeline's steps; empty: no pipeline
  uint32_t max_batch_size = 0;     // rows of one batch; 0: no batches
};

// A change that Host::RescanModels found.
struct ModelChange {
  std::string name;
  uint32_t version;
  wasinn_model_change_kind kind;
  std::string message;  // why it failed; else empty
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

// Called from any thread, even concurrently, with one line without control characters. Must not call wasinn, must not
// throw.
using LogFunction = std::function<void(const wasinn_log_record& record)>;

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
  // The default limits of its guests' programs.
  EngineLimits engine_limits() const {
    EngineLimits limits;
    (void)Status(wasinn_host_engine_limits(get(), &limits));
    return limits;
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
    c.builders = options.builders.data();
    c.n_builders = options.builders.size();
    c.backend = options.backend.empty() ? nullptr : options.backend.c_str();
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
  // Compiles its files again, as they are now. Until that is done, and if it fails, loads get the old model.
  Status ReloadModel(const std::string& name) {
    return internal::CallWith("the model's name", name,
                              [&](const char* c) { return wasinn_host_reload_model(get(), c); });
  }

  // Looks at the files of all models again, as wasinn_host_rescan_models, and returns the changes.
  Result<std::vector<ModelChange>> RescanModels() {
    std::vector<ModelChange> changes;
    Status status(wasinn_host_rescan_models(
        get(),
        [](void* user, const wasinn_model_change* change) {
          static_cast<std::vector<ModelChange>*>(user)->push_back({internal::ToString(change->name), change->version,
                                                                   static_cast<wasinn_model_change_kind>(change->kind),
                                                                   internal::ToString(change->message)});
        },
        &changes));
    if (!status.ok()) return status;
    return changes;
  }

  // Every registered model, sorted by name and version.
  std::vector<ModelInfo> Models() const {
    std::vector<ModelInfo> models;
    wasinn_host_models(
        get(),
        [](void* user, const wasinn_model_info* info) {
          const bool has_batches =  // the library may be older
              info->struct_size >= offsetof(wasinn_model_info, max_batch_size) + sizeof info->max_batch_size;
          static_cast<std::vector<ModelInfo>*>(user)->push_back(
              {internal::ToString(info->name), info->version, internal::ToString(info->encoding),
               static_cast<Target>(info->target), internal::ToString(info->path), info->loaded, info->compiles,
               internal::ToString(info->backend), internal::ToString(info->framework),
               internal::ToString(info->library), std::vector<std::string>(info->steps, info->steps + info->n_steps),
               has_batches ? info->max_batch_size : 0});
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

  static void Log(void* user, const wasinn_log_record* record) { (*static_cast<const LogFunction*>(user))(*record); }

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

  // Before host_, to be destroyed after it: it calls them until the last guest is freed.
  std::shared_ptr<LogFunction> log_;
  std::shared_ptr<SpanFunction> spans_;
  std::unique_ptr<wasinn_host, internal::Free<wasinn_host_free>> host_;
};

// The run of a guest's program. It must not outlive its Guest.
class Run {
 public:
  Run(Run&&) noexcept = default;
  Run& operator=(Run&& other) noexcept {
    guest_ = std::move(other.guest_);
    interrupt_ = std::move(other.interrupt_);
    return *this;
  }

  // Ends the run. True: its deadline had passed. Call it before Guest::Close, which ends the run, too, and before the
  // guest's next BeginRun: a guest has one run at a time.
  bool End() {
    const bool is_late = guest_ != nullptr && wasinn_guest_end_run(guest_.get());
    (void)guest_.release();
    return is_late;
  }

 private:
  friend class Guest;
  struct EndRun {
    void operator()(wasinn_guest* guest) const { (void)wasinn_guest_end_run(guest); }
  };
  Run() = default;

  std::unique_ptr<std::function<void()>> interrupt_;  // destroyed after the run
  std::unique_ptr<wasinn_guest, EndRun> guest_;
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
    print_ = std::move(other.print_);
    return *this;
  }

  static Result<Guest> Create(const Host& host, const GuestOptions& options = GuestOptions()) {
    if (Status status = internal::CheckText("the guest's name", options.name); !status.ok()) return status;
    wasinn_guest_options c = {};
    c.struct_size = sizeof c;
    c.name = options.name.empty() ? nullptr : options.name.c_str();
    if (options.limits) c.limits = &*options.limits;
    std::optional<internal::PolicyAsC> policy;
    if (options.policy) {
      if (Status status = internal::CheckTexts(*options.policy); !status.ok()) return status;
      c.policy = policy.emplace(*options.policy).get();
    }
    std::shared_ptr<Print> print;
    if (options.print) {
      print = std::make_shared<Print>(options.print);
      c.print = [](void* user, const char* text, size_t size) { (*static_cast<const Print*>(user))({text, size}); };
      c.print_user = print.get();
    }
    c.on_behalf_of = options.on_behalf_of;
    wasinn_guest* created = nullptr;
    Status status(wasinn_guest_new(host.get(), &c, &created));
    if (!status.ok()) return status;
    return Guest(host, std::move(print), created);
  }

  // Refuses new calls, cancels running ones, and waits until no call is inside. May be called more than once.
  void Close() { wasinn_guest_close(get()); }
  // Refuses new calls, cancels running ones, and interrupts the run. Does not wait. Any thread.
  void Stop() { wasinn_guest_stop(get()); }

  // Begins the run of the guest's program, as wasinn_guest_begin_run. The same rules hold for `interrupt`, and it must
  // not throw. The run ends with the Run, at the latest. Limits::run_timeout_ms is the deadline, by default none.
  Result<Run> BeginRun(std::function<void()> interrupt) {
    if (!interrupt) return Status(wasinn_status_new(WASINN_ERROR_INVALID_ARGUMENT, "interrupt is an empty function"));
    Run run;
    run.interrupt_ = std::make_unique<std::function<void()>>(std::move(interrupt));
    const auto call = [](void* user) { (*static_cast<const std::function<void()>*>(user))(); };
    if (Status status(wasinn_guest_begin_run(get(), call, run.interrupt_.get())); !status) return status;
    run.guest_.reset(get());
    return run;
  }

  // Counts of what the guest holds now, and of what it has done so far.
  wasinn_statistics Statistics() const {
    wasinn_statistics stats = {};
    stats.struct_size = sizeof stats;
    (void)Status(wasinn_guest_statistics(get(), &stats));
    return stats;
  }

  wasinn_guest* get() const { return guest_.get(); }

 private:
  using Print = std::function<void(std::string_view piece)>;

  Guest(const Host& host, std::shared_ptr<Print> print, wasinn_guest* guest)
      : log_(host.log_), spans_(host.spans_), print_(std::move(print)), guest_(guest) {}

  std::shared_ptr<LogFunction> log_;
  std::shared_ptr<SpanFunction> spans_;
  std::shared_ptr<Print> print_;
  std::unique_ptr<wasinn_guest, internal::Free<wasinn_guest_free>> guest_;
};

}  // namespace wasinn

#endif  // WASINN_WASINN_HPP_
