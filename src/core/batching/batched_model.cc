#include "core/batching/batched_model.h"

#include <algorithm>
#include <utility>

#include "core/batching/batch_instance.h"
#include "core/batching/batched_slot.h"
#include "core/ios.h"
#include "core/large_stacks.h"
#include "core/processors.h"
#include "core/table_errors.h"

namespace wasinn::core {
namespace {

// Of one whose rank only a compute tells nothing is known, and nothing refused.
Status CheckIo(const wasinn_io& io, const char* what, const char* backend) {
  if (IsUnservable(io)) return Unservable(what, io, backend);
  if ((io.flags & (WASINN_IO_OPAQUE | WASINN_IO_ALWAYS)) != 0) {
    return Error(WASINN_INVALID_ARGUMENT, "{} '{}' is not a tensor of rows", what, io.name);
  }
  if (io.rank < 0 || (io.rank > 0 && io.dims[0] < 0)) return Status();
  return Error(WASINN_INVALID_ARGUMENT, "expected an open first dimension of {} '{}', found {}", what, io.name,
               Describe(io));
}

Status CheckBatches(const Graph& graph) {
  const wasinn_backend& table = graph.backend().table();
  if (graph.inputs().empty()) return Error(WASINN_INVALID_ARGUMENT, "it has no inputs");
  if (graph.is_stateful()) {
    return Error(WASINN_INVALID_ARGUMENT, "it has a state, which would pass from one guest to the next");
  }
  for (const wasinn_io* io : graph.inputs()) {
    if (Status status = CheckIo(*io, "input", table.name); !status.ok()) return status;
  }
  for (const wasinn_io* io : graph.outputs()) {
    if (Status status = CheckIo(*io, "output", table.name); !status.ok()) return status;
  }
  return Status();
}

// What the backend says of its model, and this.
std::string DescriptionOf(const Graph& graph, const Batching& batching) {
  const char* text = graph.description();
  std::string inner(text == nullptr ? "" : text);
  const size_t end = inner.rfind('}');
  inner = end == std::string::npos ? "{" : inner.substr(0, end);
  const bool is_empty = inner.find_first_not_of("{ \n") == std::string::npos;
  return fmt::format(R"({}{}"max_batch_size":{}}})", inner, is_empty ? "" : ",", batching.max_batch_size);
}

BatchedSlot& Of(wasinn_backend_slot* slot) { return BatchedSlot::Of(slot); }

void AddGraphs(wasinn_backend& table) {
  table.load = [](wasinn_backend_state* model, const wasinn_blob* const*, size_t, const wasinn_load_options*,
                  wasinn_backend_graph** out) -> wasinn_error* {
    *out = reinterpret_cast<wasinn_backend_graph*>(model);
    return nullptr;
  };
  table.unload = [](wasinn_backend_graph*) {};  // with the state
  table.info = [](wasinn_backend_graph* graph, const wasinn_info** out) -> wasinn_error* {
    *out = &BatchedModel::Of(graph).info();
    return nullptr;
  };
  table.describe = [](wasinn_backend_graph* graph) { return BatchedModel::Of(graph).description(); };
}

void AddSlots(wasinn_backend& table) {
  table.slot_free = [](wasinn_backend_slot* slot) { delete &Of(slot); };
  table.bind_input = [](wasinn_backend_slot* slot, uint32_t index, const wasinn_tensor* tensor) {
    return Caught([&] { return Of(slot).Bind(index, *tensor), Status(); });
  };
  table.unbind_input = [](wasinn_backend_slot* slot, uint32_t index) { Of(slot).Unbind(index); };
  table.compute = [](wasinn_backend_slot* slot, const wasinn_compute_options* options, wasinn_compute_result*) {
    return Caught([&] { return Of(slot).Compute(*options); });
  };
  table.output = [](wasinn_backend_slot* slot, uint32_t index, wasinn_tensor* view) {
    return Caught([&] { return Of(slot).Output(index, *view); });
  };
  table.outputs = [](wasinn_backend_slot* slot, const wasinn_io* const** out, uint32_t* n) {
    return Caught([&] { return Of(slot).LateOutputsOf(*out, *n); });
  };
  table.take_output = [](wasinn_backend_slot* slot, uint32_t index, wasinn_tensor* out) {
    return Caught([&] { return Of(slot).Take(index, *out); });
  };
  table.discard_outputs = [](wasinn_backend_slot* slot) { Of(slot).Discard(); };
  table.cancel = [](wasinn_backend_slot* slot) { Of(slot).Cancel(); };
}

// Messages name the framework, so its name is the table's.
wasinn_backend TableOver(const wasinn_backend& framework) {
  wasinn_backend table{};
  table.struct_size = sizeof(wasinn_backend);
  table.abi_major = WASINN_BACKEND_ABI_MAJOR;
  table.abi_minor = WASINN_BACKEND_ABI_MINOR;
  table.name = framework.name;
  table.version = framework.version;
  table.formats = framework.formats;
  table.n_formats = framework.n_formats;
  table.keys = framework.keys;
  table.n_keys = framework.n_keys;
  table.install = framework.install;
  table.bind_align = framework.bind_align;
  table.backend_info = [](wasinn_backend_state* model, const wasinn_backend_info** out) {
    const Backend& inner = reinterpret_cast<BatchedModel*>(model)->inner()->backend();
    return inner.table().backend_info(inner.state(), out);
  };
  table.close = [](wasinn_backend_state* model) { BatchedModel::Free(reinterpret_cast<BatchedModel*>(model)); };
  table.slot_new = [](wasinn_backend_graph*, const wasinn_slot_options*, wasinn_backend_slot**) {
    return ToError(Status(WASINN_RUNTIME_ERROR, "a slot of a batched model has contexts within"));  // Hooks::new_slot
  };
  AddGraphs(table);
  AddSlots(table);
  return table;
}

wasinn_error* NewSlot(wasinn_backend_graph* graph, const wasinn_slot_options& options,
                      const ContextResources& resources, wasinn_backend_slot** out) {
  return Caught([&] {
    *out = reinterpret_cast<wasinn_backend_slot*>(new BatchedSlot(BatchedModel::Of(graph), options, resources));
    return Status();
  });
}

}  // namespace

Result<std::shared_ptr<Graph>> BatchedModel::Over(std::shared_ptr<Graph> graph, const Batching& batching,
                                                  const std::string& name, const Graph::LoadOptions& options,
                                                  const Resources& resources) {
  if (Status status = CheckBatches(*graph); !status.ok()) {
    return Fail(status.code(), "model '{}' cannot have batches (max_batch_size): {}", name, status.message());
  }
  const wasinn_backend table = TableOver(graph->backend().table());
  const auto open = [&](const wasinn_host_services&) -> Result<wasinn_backend_state*> {
    std::unique_ptr<BatchedModel> model(new BatchedModel(std::move(graph), batching, name, resources));
    if (Status status = model->Start(); !status.ok()) return std::unexpected(std::move(status));
    return reinterpret_cast<wasinn_backend_state*>(model.release());
  };
  const Backend::Hooks hooks{.abandon = nullptr,
                             .is_lost = [](wasinn_backend_graph* model) { return Of(model).inner_->lost(); },
                             .new_slot = &NewSlot};
  Result<std::shared_ptr<Backend>> backend = Backend::OpenBy(table, resources.logger, resources.threads, open, hooks);
  if (!backend) return std::unexpected(std::move(backend.error()));
  return Graph::Load(std::move(*backend), {}, options, resources.watchdog);
}

uint32_t BatchedModel::InstancesOf(const Batching& batching, const Resources& resources) {
  if (batching.instance_count != 0) return batching.instance_count;
  return std::max(1u, Processors() / std::max(1u, resources.threads));
}

BatchedModel::BatchedModel(std::shared_ptr<Graph> graph, const Batching& batching, std::string name,
                           const Resources& resources)
    : inner_(std::move(graph)),
      batching_(batching),
      name_(std::move(name)),
      resources_(resources),
      instances_(InstancesOf(batching, resources)),
      description_(DescriptionOf(*inner_, batching)),
      memory_("bytes of batches", "max_batch_size", UINT64_MAX),
      pool_user_(resources.pool.NewUser()),
      queue_(batching, instances_, resources.watchdog.clock()) {
  info_ = {
      .struct_size = sizeof(wasinn_info),
      .n_inputs = static_cast<uint32_t>(inner_->inputs().size()),
      .n_outputs = inner_->has_late_outputs() ? WASINN_COUNT_UNKNOWN : static_cast<uint32_t>(inner_->outputs().size()),
      .inputs = inner_->inputs().data(),
      .outputs = inner_->has_late_outputs() ? nullptr : inner_->outputs().data(),
      // Who waits for a batch has no place; a batch has one while it computes.
      .max_parallel = UINT32_MAX,
      .flags = 0};
}

BatchedModel::~BatchedModel() {
  stopping_.store(true, std::memory_order_release);
  queue_.Stop();
  for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
}

// What threads wait on that are not here cannot be destroyed.
void BatchedModel::Free(BatchedModel* model) {
  if (!model->started_in_.is_elsewhere()) delete model;
}

Status BatchedModel::Start() {
  if (Status status = resources_.watchdog.Start(); !status.ok()) return status;
  threads_.reserve(instances_);
  while (threads_.size() < instances_) {
    pthread_t thread{};
    if (!StartLargeThread(&thread, Work, this)) {
      return Error(WASINN_RUNTIME_ERROR, "the system gives no thread for batches of model '{}'", name_);
    }
    threads_.push_back(thread);
    started_in_.SetToThisProcess();
  }
  return Status();
}

void* BatchedModel::Work(void* model) {
  BatchInstance(*static_cast<BatchedModel*>(model)).Run();
  return nullptr;
}

Result<std::unique_ptr<Context>> BatchedModel::NewContext() {
  // Each compute is told how many bytes it may allocate.
  return Context::Create(inner_, {.open_deadline = resources_.open_deadline, .stop = &stopping_},
                         {{memory_, resources_.pool, pool_user_},
                          resources_.watchdog,
                          resources_.scheduler,
                          share_,
                          {.metrics = &resources_.metrics}});
}

void BatchedModel::NoteBatch(bool matches) {
  if (matches) {
    mismatches_.store(0, std::memory_order_relaxed);
  } else if (mismatches_.fetch_add(1, std::memory_order_relaxed) + 1 == kMostMismatches) {
    resources_.logger.Write(WASINN_LOG_WARNING,
                            fmt::format("model '{}': outputs of a batch do not have its rows, {} times in a row: it is "
                                        "computed without batches from now on",
                                        name_, kMostMismatches));
  }
}

}  // namespace wasinn::core
