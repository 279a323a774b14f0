#include "core/models/graph.h"

#include <fmt/ranges.h>

#include "base/json.h"
#include "base/number.h"
#include "core/c_struct.h"
#include "core/inference/backend_session.h"
#include "core/inference/interruptible.h"
#include "core/inference/ios.h"
#include "core/memory/tensor.h"
#include "core/words.h"

namespace wasinn::core {
namespace {

// For messages: guests and models choose names of any length.
std::string_view Shortened(std::string_view name) {
  constexpr size_t kMax = 128;
  return name.substr(0, kMax);
}

std::string List(std::span<const wasinn_io* const> ios) {
  constexpr size_t kMax = 16;
  std::string list;
  for (size_t i = 0; i < std::min(ios.size(), kMax); ++i) {
    list += fmt::format("{}'{}'", i == 0 ? "" : ", ", Shortened(ios[i]->name));
  }
  if (ios.size() > kMax) list += fmt::format(" and {} more", ios.size() - kMax);
  return ios.empty() ? "none" : list;
}

Status CheckBindable(std::span<const wasinn_io* const> outputs, const wasinn_backend& table) {
  for (const wasinn_io* io : outputs) {
    if ((io->flags & WASINN_IO_BINDABLE) == 0) continue;
    if (table.bind_output != nullptr && (io->flags & WASINN_IO_UNSERVABLE) == 0 && IsStatic(*io)) continue;
    return Status(WASINN_ERROR_RUNTIME,
                  fmt::format("output '{}' says that it is bindable: expected bind_output, and a type and shape that "
                              "are known",
                              io->name),
                  table.name);
  }
  return Status();
}

bool AreStatic(std::span<const wasinn_io* const> ios) {
  return std::ranges::all_of(ios, [](const wasinn_io* io) { return IsStatic(*io); });
}

// The bytes of outputs of a known shape that a slot has from its creation.
uint64_t BytesInSlots(std::span<const wasinn_io* const> outputs) {
  uint64_t total = 0;
  for (const wasinn_io* io : outputs) {
    if ((io->flags & (WASINN_IO_BINDABLE | WASINN_IO_UNSERVABLE)) != 0) continue;
    if (__builtin_add_overflow(total, StaticSize(*io).value_or(0), &total)) return UINT64_MAX;
  }
  return total;
}

}  // namespace

Result<std::shared_ptr<Graph>> Graph::Load(std::shared_ptr<Backend> backend,
                                           std::span<const std::shared_ptr<const Blob>> parts,
                                           const LoadOptions& options, Watchdog& watchdog) {
  std::vector<BlobView> views;
  views.reserve(parts.size());
  std::vector<const wasinn_builder*> builders;
  for (const std::shared_ptr<const Blob>& part : parts) builders.push_back(views.emplace_back(part).get());

  Interruptible load(watchdog, options.deadline, options.stop, options.limit);
  const wasinn_load_options c_options{.struct_size = sizeof(wasinn_load_options),
                                      .target = options.target,
                                      .format = options.encoding.c_str(),
                                      .host_config = options.host_config.c_str(),
                                      .guest_config = options.guest_config.c_str(),
                                      .cpu_fallback = options.cpu_fallback,
                                      .max_bytes = options.max_bytes,
                                      .token = load.token(),
                                      .on_cancel = load.on_cancel(),
                                      .account = options.account.get()};
  // Created first, so that a loaded model always has an owner to unload it.
  auto graph = std::make_shared<BackendGraph>(backend, options);
  Status status = load.Run("load", backend->table().name, [&] {
    return backend->Take(
        backend->table().load(backend->state(), builders.data(), builders.size(), &c_options, &graph->model_));
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  RETURN_IF_ERROR(graph->ReadInfo(options.metrics));
  if (graph->account_ != nullptr) graph->kept_ = graph->account_->used();
  return graph;
}

void Graph::SetInfo(const wasinn_info& info, uint32_t bind_align, std::shared_ptr<ModelMetrics> metrics) {
  info_ = info;
  bind_align_ = bind_align;
  input_names_ = NamesOf(inputs());
  output_names_ = NamesOf(outputs());
  if (info_.max_parallel != 0 && counts_among_computes()) {
    scheduler_ = std::make_unique<Scheduler>(info_.max_parallel, Scheduler::AllButAQuarter(info_.max_parallel, 0),
                                             "of this model");
  }
  if (metrics == nullptr) return;
  metrics_ = std::make_unique<GraphMetrics>(std::move(metrics), backend_name(), scheduler_.get());
}

Status BackendGraph::ReadInfo(std::shared_ptr<ModelMetrics> metrics) {
  const wasinn_backend& table = backend_->table();
  const wasinn_info* given = nullptr;
  if (model_ == nullptr) return Status(WASINN_ERROR_RUNTIME, "the load gave no model", table.name);
  RETURN_IF_ERROR(backend_->Take(table.info(model_, &given)));
  if (given == nullptr) return Status(WASINN_ERROR_RUNTIME, "the model has no signature", table.name);
  ASSIGN_OR_RETURN(wasinn_info read, ReadStruct(*given, "wasinn_info"));
  if (table.take_output == nullptr) read.memory = nullptr;  // outputs that stay there could not be read
  const bool is_late = read.n_outputs == WASINN_COUNT_UNKNOWN;
  const std::span<const wasinn_io* const> inputs(read.inputs, read.n_inputs);
  const std::span<const wasinn_io* const> outputs(read.outputs, is_late ? 0 : read.n_outputs);
  RETURN_IF_ERROR(CheckSignature(inputs, "input", table.name));
  RETURN_IF_ERROR(CheckSignature(outputs, "output", table.name));
  RETURN_IF_ERROR(CheckBindable(outputs, table));
  if (is_late && table.outputs == nullptr) {
    return Status(WASINN_ERROR_RUNTIME, "the backend does not list the model's outputs", table.name);
  }
  SetInfo(read, table.bind_align, std::move(metrics));
  const bool shares = (read.flags & WASINN_GRAPH_SHARES_SLOTS) != 0 && table.reset != nullptr;
  if (shares && counts_among_computes() && !is_late) {
    slots_ = std::make_unique<SlotPool>(*backend_, model_, account_.get(), BytesInSlots(outputs),
                                        AreStatic(inputs) && AreStatic(outputs));
  }
  return Status();
}

Result<std::unique_ptr<Session>> BackendGraph::NewSession(std::shared_ptr<const Graph> self,
                                                          const wasinn_slot_options& options, uint32_t most,
                                                          const Resources& resources) const {
  return BackendSession::Make(std::move(self), options, most, resources);
}

// If two have the same name, the first one gets it.
Graph::Names Graph::NamesOf(std::span<const wasinn_io* const> ios) {
  Names names;
  names.reserve(ios.size());
  for (uint32_t i = 0; i < ios.size(); ++i) names.try_emplace(ios[i]->name, i);
  return names;
}

Result<uint32_t> Graph::Find(const Names& names, std::span<const wasinn_io* const> ios, const char* what,
                             std::string_view name) {
  if (const auto found = names.find(name); found != names.end()) return found->second;
  if (const auto index = base::ParseNumber<uint32_t>(name); index && *index < ios.size()) return *index;
  if (ios.size() == 1 && (ios[0]->flags & WASINN_IO_ANY_NAME) != 0) return 0;
  return Fail(WASINN_ERROR_INVALID_ARGUMENT, "the model has no {} '{}', only {}", what, Shortened(name), List(ios));
}

Status BackendGraph::RecordLoss(Status status) const {
  if (status.code() == WASINN_ERROR_LOST) lost_.store(true, std::memory_order_relaxed);
  return status;
}

const char* BackendGraph::description() const {
  return backend_->table().describe == nullptr ? nullptr : backend_->table().describe(model_);
}

BackendGraph::~BackendGraph() {
  slots_.reset();
  if (model_ != nullptr) backend_->table().unload(model_);
}

// ---- For guests

namespace {

std::string ToJson(const wasinn_io& io) {
  const bool is_named = io.dtype == WASINN_DTYPE_UNKNOWN && io.type_name != nullptr;
  std::string json = fmt::format(R"({{"name":{},"type":{},"shape":)", base::Quoted(io.name),
                                 base::Quoted(is_named ? io.type_name : DtypeName(io.dtype)));
  json += io.rank < 0 ? "null" : fmt::format("[{}]", fmt::join(io.dims, io.dims + io.rank, ","));
  if ((io.flags & WASINN_IO_OPTIONAL) != 0) json += R"(,"optional":true)";
  if ((io.flags & WASINN_IO_OPAQUE) != 0) json += R"(,"opaque":true)";
  if ((io.flags & WASINN_IO_ALWAYS) != 0) json += R"(,"always":true)";
  if ((io.flags & WASINN_IO_STRINGS) != 0) json += R"(,"strings":true)";
  if ((io.flags & WASINN_IO_UNSERVABLE) != 0) json += R"(,"unservable":true)";
  return json + "}";
}

std::string ToJson(std::span<const wasinn_io* const> ios) {
  std::string json = "[";
  for (const wasinn_io* io : ios) {
    if (json.size() > 1) json += ",";
    json += ToJson(*io);
  }
  return json + "]";
}

// The backend's description of its model, or null if it is no JSON.
std::string_view Checked(std::string_view json) {
  return !base::IsTooDeep(json) && nlohmann::json::accept(json) ? json : "null";
}

}  // namespace

std::string DescribeAsJson(const Graph& graph) {
  // null: only known after a run.
  std::string json =
      fmt::format(R"({{"backend":{},"inputs":{},"outputs":{})", base::Quoted(graph.backend_name()),
                  ToJson(graph.inputs()), graph.has_dynamic_outputs() ? "null" : ToJson(graph.outputs()));
  if (const char* text = graph.description()) json += fmt::format(R"(,"model":{})", Checked(text));
  return json + "}";
}

}  // namespace wasinn::core
