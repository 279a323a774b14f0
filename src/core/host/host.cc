#include "core/host/host.h"

#include <algorithm>

#include "core/host/guest_config.h"
#include "core/models/backend.h"
#include "core/pipeline/pipeline_graph.h"
#include "core/runtime/processors.h"

namespace wasinn::core {
namespace {

// More than one, because some wait for memory or have used up their time slice. Not many, because each may need as much
// memory as a model's largest intermediate values.
constexpr uint32_t kComputesPerProcessor = 4;

uint32_t MaxComputes(const HostOptions& options) {
  return options.max_computes != 0 ? options.max_computes : kComputesPerProcessor * Processors();
}

uint32_t MaxComputesOfOne(const HostOptions& options) {
  return options.max_guest_computes != 0 ? options.max_guest_computes
                                         : Scheduler::AllButAQuarter(MaxComputes(options), 1);
}

using Parts = std::vector<std::shared_ptr<const Blob>>;

// The host and the worker share one copy of a file.
Result<std::shared_ptr<const Blob>> ReadPart(const ModelSource& source, const std::string& path, bool is_mapped) {
  return source.workers != nullptr ? Blob::ReadSealed(path) : Blob::ReadFile(path, is_mapped);
}

Result<Parts> ReadParts(const ModelSource& source, bool is_mapped) {
  Parts parts = source.parts;
  if (source.is_address) return Parts{Blob::OfAddress(source.paths.front())};
  for (const std::string& path : source.paths) {
    ASSIGN_OR_RETURN(auto part, At(source.title(), ReadPart(source, path, is_mapped)));
    parts.push_back(std::move(part));
  }
  return parts;
}

uint64_t SizeOf(std::span<const std::shared_ptr<const Blob>> parts) {
  uint64_t total = 0;
  for (const auto& part : parts) total += part->bytes().size();
  return total;
}

// The size of what ReadParts would read. ReadParts reports files that cannot be read.
uint64_t SizeOf(const ModelSource& source) {
  uint64_t total = SizeOf(source.parts);
  for (const std::string& path : source.paths) total += Blob::FileSize(path).value_or(0);
  return total;
}

// `start`: the first bytes.
Status Unrecognised(Formats formats, std::span<const uint8_t> start) {
  if (const std::string_view kind = KindOfNoModel(start); !kind.empty()) {
    return Error(WASINN_ERROR_INVALID_ENCODING, "the bytes are {}", kind);
  }
  return Error(WASINN_ERROR_INVALID_ENCODING,
               "the bytes are not of a model format that wasinn recognises: known are {}; one that the bytes "
               "do not show must be named",
               ListFormats(formats));
}

// The format of a source that does not name one, by the beginning of its first part.
Result<std::string> FormatOfStart(const ModelSource& source, Formats formats) {
  constexpr size_t kStart = 64 << 10;  // far more than the fields before an ONNX model's graph
  std::shared_ptr<const Blob> start;
  uint64_t size = 0;
  if (!source.parts.empty()) {
    start = source.parts.front();
  } else if (!source.paths.empty()) {
    size = Blob::FileSize(source.paths.front()).value_or(0);
    start = Blob::ReadStart(source.paths.front(), kStart).value_or(nullptr);
  }
  const std::span<const uint8_t> bytes = start == nullptr ? std::span<const uint8_t>() : start->bytes();
  std::string format = FormatOfBytes(formats, bytes, std::max<uint64_t>(size, bytes.size()));
  if (format.empty()) return std::unexpected(Unrecognised(formats, bytes));
  return format;
}

// C strings of names, ending in a null, so that an empty list is not null.
std::vector<const char*> ToC(const std::vector<std::string>& names) {
  std::vector<const char*> pointers;
  pointers.reserve(names.size() + 1);
  for (const std::string& name : names) pointers.push_back(name.c_str());
  pointers.push_back(nullptr);
  return pointers;
}
std::vector<const char*> ToC(const std::optional<std::vector<std::string>>& names) {
  return names ? ToC(*names) : std::vector<const char*>();
}

Result<std::shared_ptr<Graph>> Counted(LoadMeter& meter, Result<std::shared_ptr<Graph>> graph) {
  meter.End(graph ? WASINN_OK : graph.error().code(),
            graph ? (*graph)->backend_name() : std::string(graph.error().backend()));
  return graph;
}

// The shorter of two deadlines; 0: none.
std::chrono::milliseconds Shorter(std::chrono::milliseconds one, std::chrono::milliseconds other) {
  return one.count() == 0 || (other.count() != 0 && other < one) ? other : one;
}

Result<std::vector<uint32_t>> FindOutputs(const Graph& graph, std::span<const std::string> names) {
  std::vector<uint32_t> indices;
  if (!names.empty() && graph.has_dynamic_outputs()) {
    return Fail(WASINN_ERROR_UNSUPPORTED_OPERATION, "the outputs of this model are known only after a compute");
  }
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(uint32_t index, graph.FindOutput(name));
    indices.push_back(index);
  }
  return indices;
}

}  // namespace

Host::Host(HostOptions& options, wasinn_log_fn log, void* user)
    : logger_(log, user, options.log_level),
      metrics_(options.metrics),
      limits_(options.limits),
      engine_limits_(options.engine_limits),
      engine_options_(options.engine),
      policy_(std::move(options.policy)),
      policy_model_names_(ToC(policy_.models)),
      policy_encoding_names_(ToC(policy_.encodings)),
      policy_outbound_hosts_(ToC(policy_.allowed_outbound_hosts)),
      isolate_models_(options.isolate_models),
      watchdog_(Watchdog::StartUsualThread, options.clock),
      scheduler_(MaxComputes(options), MaxComputesOfOne(options), "max_computes"),
      executor_(options.call_threads != 0 ? options.call_threads : Processors()),
      computing_(HostOptions::kMaxCallThreads),
      others_(MaxComputes(options), MaxComputesOfOne(options), "max_computes"),
      buffers_(BufferPool::Create(limits_.max_tensor_bytes)),
      backends_(std::move(options.backends), logger_, options.clock) {
  if (options.max_guest_lines != 0)
    guest_lines_.emplace(options.max_guest_lines, options.max_guest_lines, options.clock);
  if (options.max_total_bytes == 0) return;
  guest_bytes_ = std::make_shared<Quota>("all guests", "max_total_bytes", options.max_total_bytes, nullptr,
                                         &metrics_.refusals.total_bytes);
}

wasinn_policy Host::policy_in_c() const {
  return {.struct_size = sizeof(wasinn_policy),
          .load = policy_.load,
          .cpu_fallback = policy_.cpu_fallback,
          .targets = policy_.targets,
          .models = policy_.models ? policy_model_names_.data() : nullptr,
          .n_models = policy_.models ? policy_.models->size() : 0,
          .dialect = policy_.dialect,
          .encodings = policy_.encodings ? policy_encoding_names_.data() : nullptr,
          .n_encodings = policy_.encodings ? policy_.encodings->size() : 0,
          .tenant = policy_.tenant.empty() ? nullptr : policy_.tenant.c_str(),
          .weight = policy_.weight,
          .allowed_outbound_hosts = policy_outbound_hosts_.data(),
          .n_allowed_outbound_hosts = policy_.allowed_outbound_hosts.size(),
          .isolated_gpu = policy_.isolated_gpu};
}

Result<std::shared_ptr<Host>> Host::Create(HostOptions options, wasinn_log_fn log, void* user) {
  options.backends.has_one_guest = options.max_guest_computes >= MaxComputes(options);
  std::shared_ptr<Host> host(new Host(options, log, user));
  for (const std::string& name : host->policy_.encodings.value_or(std::vector<std::string>())) {
    RETURN_IF_ERROR(At("configuration key 'policy.encodings'",
                       host->backends_.CheckFormat(name, WASINN_ERROR_INVALID_ARGUMENT, {})));
  }
  for (const std::string& folder : options.model_dirs) {
    RETURN_IF_ERROR(host->AddModels(folder));
  }
  Status failed;  // of all models: the operator wants to know every broken file
  for (const ModelOptions& model : options.models) {
    Status status = host->AddModel(model);
    if (status.ok()) continue;
    failed = failed.ok() ? std::move(status) : Error(failed.code(), "{}; {}", failed.message(), status.message());
  }
  if (!failed.ok()) return std::unexpected(std::move(failed));
  return host;
}

Result<std::shared_ptr<Graph>> Host::LoadNamed(std::string_view name, const WaitOptions& wait, const GuestTag& loader) {
  Result<std::shared_ptr<Model>> model = models_.Find(name);
  return model ? LoadModel(**model, wait, loader) : std::unexpected(std::move(model.error()));
}

Result<std::shared_ptr<Graph>> Host::LoadModel(Model& model, const WaitOptions& wait, const GuestTag& loader) {
  return model.Get([&](const ModelSource& source) { return CompileModel(source, wait, loader); }, wait);
}

Result<std::shared_ptr<Graph>> Host::CompileModel(const ModelSource& source, const WaitOptions& wait,
                                                  const GuestTag& loader) {
  const auto log = [&](const std::string& what) {
    logger_.Write(WASINN_LOG_INFO, fmt::format("{}: {}", source.title(), what));
  };
  const auto begin = SteadyClock::now();
  LoadMeter meter(metrics_, source.metrics, loader);
  log("loading");
  Result<std::shared_ptr<Graph>> graph =
      source.batching.is_on() ? LoadBatched(source, wait) : LoadSource(source, OfHost(), wait);
  if (graph && source.warm_up.computes != 0) {
    if (Status status = WarmUpGraph(*graph, source, wait); !status.ok()) graph = std::unexpected(std::move(status));
  }
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - begin);
  log(fmt::format("{} after {} ms", graph ? "loaded" : "failed", took.count()));
  return Counted(meter, std::move(graph));
}

Result<Host::Configured> Host::LoadNamed(std::string_view name, Graph::LoadOptions options, const Policy& guest_policy,
                                         Reservation& bytes) {
  ASSIGN_OR_RETURN(std::shared_ptr<Model> model, models_.Find(name));
  const ModelSource& source = model->source();
  const WaitOptions wait = WaitOptionsOf(options);
  ASSIGN_OR_RETURN(wasinn_backend table, TableOf(source, wait));
  ASSIGN_OR_RETURN(GuestConfig config, ParseGuestConfig(table, options.guest_config));
  for (const std::string& hint : config.unused) {
    logger_.Write(WASINN_LOG_INFO, fmt::format("model '{}': backend '{}' cannot follow a guest's '{}' for one model",
                                               name, table.name, hint));
  }
  Result<std::shared_ptr<Graph>> graph;
  if (config.needs_load(source.target)) {
    if (!source.pipeline.empty()) {
      return Fail(WASINN_ERROR_UNSUPPORTED_OPERATION, "model '{}' is a pipeline: its steps run where their models do",
                  name);
    }
    ModelSource own = source;
    own.target = config.device.value_or(source.target);
    if (config.device) {
      RETURN_IF_ERROR(guest_policy.CheckTarget(own.target));
    }
    // If the guest chooses the device, its own policy says what happens without it.
    const Policy& deciding = config.device ? guest_policy : policy_;
    options.cpu_fallback = deciding.cpu_fallback;
    options.isolated_gpu = deciding.isolated_gpu;
    options.guest_config = std::move(config.load);
    LoadMeter meter(metrics_, own.metrics, options.loader);
    graph = Counted(meter, LoadSource(own, std::move(options), wait, &bytes));
  } else {
    graph = LoadNamed(name, wait, options.loader);
  }
  if (!graph) return std::unexpected(std::move(graph.error()));
  ASSIGN_OR_RETURN(std::vector<uint32_t> outputs, FindOutputs(**graph, config.outputs));
  return Configured{std::move(*graph), std::move(config.context), std::move(outputs)};
}

// Finds the backend of a model. Compiles nothing, and reads no more than the model's beginning.
Result<std::shared_ptr<Backend>> Host::BackendOf(const ModelSource& source, const WaitOptions& wait) {
  if (!source.backend.empty()) return backends_.ByName(source.backend, wait);
  if (!source.encoding.empty()) return backends_.ForFormat(source.encoding, wait);
  ASSIGN_OR_RETURN(const Formats formats, backends_.AllFormats(wait));
  ASSIGN_OR_RETURN(const std::string format, FormatOfStart(source, formats));
  return backends_.ForFormat(format, wait);
}

Result<wasinn_backend> Host::TableOf(const ModelSource& source, const WaitOptions& wait) {
  if (!source.pipeline.empty())
    return wasinn_backend{.struct_size = sizeof(wasinn_backend), .name = pipeline::kEncoding};
  ASSIGN_OR_RETURN(std::shared_ptr<Backend> backend, BackendOf(source, wait));
  return backend->table();
}

Result<std::shared_ptr<Graph>> Host::LoadSource(const ModelSource& source, Graph::LoadOptions options,
                                                const WaitOptions& wait, Reservation* bytes) {
  if (!source.pipeline.empty()) return At(source.title(), LoadPipeline(source, wait));
  if (bytes != nullptr) {  // before they are read
    RETURN_IF_ERROR(bytes->Resize(SizeOf(source)));
  }
  options.metrics = source.metrics;
  // A backend that maps the file itself needs no copy: reading it here would double the cost of a large one.
  ASSIGN_OR_RETURN(const Parts parts, ReadParts(source, source.immutable || backends_.IsMapped(source.encoding, wait)));
  if (bytes != nullptr) {  // a file may have changed since
    RETURN_IF_ERROR(bytes->Resize(SizeOf(parts)));
  }
  options.encoding = source.encoding;
  options.target = source.target;
  options.host_config = source.config;
  options.backend = source.backend;
  // A model in this process is compiled to its end, for all callers (decision 3). A server is only asked, and the next
  // caller asks again; a worker can be ended, and the next caller gets another (decision 100).
  if (source.is_address || source.workers != nullptr) {
    options.deadline = wait.left();
    options.limit = wait.deadline;
    options.stop = wait.stop;
  }
  if (source.workers != nullptr) {
    options.deadline = Shorter(options.deadline, LoadDeadline());
    options.limit = Shorter(options.limit, LoadDeadline());
  }
  Result<std::shared_ptr<Graph>> graph = LoadParts(parts, std::move(options), wait, source.workers.get());
  if (graph) return graph;
  // A worker's framework knows neither the file nor other devices, except that its description of a GPU is complete.
  const bool is_for_the_worker = source.workers != nullptr && source.target != WASINN_TARGET_GPU &&
                                 graph.error().code() == WASINN_ERROR_UNSUPPORTED_OPERATION;
  return std::unexpected(
      graph.error().With(fmt::format("{}: {}{}", source.title(), graph.error().message(),
                                     is_for_the_worker ? "; with isolate = true a model is one file, or an IR" : "")));
}

// The named format, or the one that the bytes show. Bytes that are clearly of another format are refused here, by its
// name, before a framework fails on them in its own words.
Result<std::string> Host::ResolveFormat(const std::string& named, std::span<const uint8_t> bytes,
                                        const WaitOptions& wait) {
  ASSIGN_OR_RETURN(const Formats formats, backends_.AllFormats(wait));
  std::string found;
  if (named.empty()) {
    found = FormatOfBytes(formats, bytes, bytes.size());
    if (found.empty()) return std::unexpected(Unrecognised(formats, bytes));
    return found;
  }
  // A backend's own format may have such bytes.
  if (HasFormat(StandardFormats(), named) && !KindOfNoModel(bytes).empty()) {
    return std::unexpected(Unrecognised(formats, bytes));
  }
  if (MayBeOf(formats, named, bytes, bytes.size(), found)) return named;
  return Fail(WASINN_ERROR_INVALID_ENCODING, "the bytes are a model of encoding {}, not {}", found, named);
}

Result<std::shared_ptr<Graph>> Host::LoadParts(std::span<const std::shared_ptr<const Blob>> parts,
                                               Graph::LoadOptions options, const WaitOptions& wait, Workers* workers) {
  ASSIGN_OR_RETURN(options.encoding, ResolveFormat(options.encoding, parts.front()->bytes(), wait));
  return Compile(parts, options, wait, workers);
}

Result<SharedGraphs::Shared> Host::LoadBytes(std::span<const std::shared_ptr<const Blob>> parts,
                                             Graph::LoadOptions options, const WaitOptions& wait,
                                             const Policy& guest_policy, Workers* workers) {
  options.metrics = metrics_.of_guests();
  LoadMeter unknown(metrics_, options.metrics, options.loader);
  Result<std::string> encoding = ResolveFormat(options.encoding, parts.front()->bytes(), wait);
  if (!encoding) {
    unknown.End(encoding.error().code(), "");
    return std::unexpected(std::move(encoding.error()));
  }
  options.encoding = std::move(*encoding);
  RETURN_IF_ERROR(guest_policy.CheckEncoding(options.encoding));
  RETURN_IF_ERROR(CheckBytes(options.encoding, wait));
  SharedGraphs& graphs = workers != nullptr ? workers->graphs() : graphs_;
  // To know the charge for other users of the graph.
  options.account = std::make_shared<Quota>("bytes of models", "limits.max_model_bytes", UINT64_MAX, options.account);
  return graphs.Get(SharedGraphs::KeyOf(parts, options), wait, [&] {
    LoadMeter meter(metrics_, options.metrics, options.loader);
    return Counted(meter, Compile(parts, options, wait, workers));
  });
}

Result<std::shared_ptr<Graph>> Host::Compile(std::span<const std::shared_ptr<const Blob>> parts,
                                             const Graph::LoadOptions& options, const WaitOptions& wait,
                                             Workers* workers) {
  // A model for the CPU gets the stronger sandbox, whatever its guest may use.
  const bool wants_gpu = options.target == WASINN_TARGET_GPU || options.target == WASINN_TARGET_AUTO;
  const Place place = {.workers = workers, .has_devices = workers != nullptr && options.isolated_gpu && wants_gpu};
  ASSIGN_OR_RETURN(std::shared_ptr<Backend> backend, options.backend.empty()
                                                         ? backends_.ForFormat(options.encoding, wait, place)
                                                         : backends_.ByName(options.backend, wait, place));
  RETURN_IF_ERROR(CheckBackendKeys(backend->table(), WASINN_KEY_MODEL, options.host_config));
  RETURN_IF_ERROR(CheckBackendKeys(backend->table(), WASINN_KEY_GUEST, options.guest_config));
  Result<std::shared_ptr<Graph>> graph = Graph::Load(std::move(backend), parts, options, watchdog_);
  const bool is_denied = workers != nullptr && options.target == WASINN_TARGET_GPU && !options.isolated_gpu;
  if (graph || !is_denied) return graph;
  const Status& why = graph.error();
  if (why.code() != WASINN_ERROR_UNSUPPORTED_OPERATION && why.code() != WASINN_ERROR_RUNTIME) return graph;
  // A framework's message about a GPU that its worker may not use does not give the reason.
  return std::unexpected(why.With(
      fmt::format("{}; models in workers can only use the CPU, unless policy.isolated_gpu is true", why.message())));
}

}  // namespace wasinn::core
