#include "core/batching/batched_graph.h"

#include <algorithm>
#include <utility>

#include "core/inference/ios.h"
#include "core/runtime/large_stacks.h"
#include "core/runtime/processors.h"

namespace wasinn::core {
namespace {

// An io whose rank only a compute shows passes: nothing is known about it.
Status CheckIo(const wasinn_io& io, const char* what, const char* backend) {
  if (IsUnservable(io)) return Unservable(what, io, backend);
  if ((io.flags & (WASINN_IO_OPAQUE | WASINN_IO_ALWAYS)) != 0) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "{} '{}' is not a tensor of rows", what, io.name);
  }
  if (io.rank < 0 || (io.rank > 0 && io.dims[0] < 0)) return Status();
  return Error(WASINN_ERROR_INVALID_ARGUMENT, "expected an open first dimension of {} '{}', found {}", what, io.name,
               Describe(io));
}

Status CheckBatches(const Graph& graph) {
  if (graph.inputs().empty()) return Error(WASINN_ERROR_INVALID_ARGUMENT, "it has no inputs");
  if (graph.is_stateful()) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "it has a state, which would pass from one guest to the next");
  }
  for (const wasinn_io* io : graph.inputs()) {
    RETURN_IF_ERROR(CheckIo(*io, "input", graph.backend_name()));
  }
  for (const wasinn_io* io : graph.outputs()) {
    RETURN_IF_ERROR(CheckIo(*io, "output", graph.backend_name()));
  }
  return Status();
}

// The backend's description of its model, with the batch size added.
std::string DescriptionOf(const Graph& graph, const Batching& batching) {
  const char* text = graph.description();
  std::string inner(text == nullptr ? "" : text);
  const size_t end = inner.rfind('}');
  inner = end == std::string::npos ? "{" : inner.substr(0, end);
  const bool is_empty = inner.find_first_not_of("{ \n") == std::string::npos;
  return fmt::format(R"({}{}"max_batch_size":{}}})", inner, is_empty ? "" : ",", batching.max_batch_size);
}

uint32_t InstancesOf(const Batching& batching, uint32_t threads) {
  if (batching.instance_count != 0) return batching.instance_count;
  return std::max(1u, Processors() / std::max(1u, threads));
}

}  // namespace

Result<std::shared_ptr<Graph>> BatchedGraph::Over(std::shared_ptr<Graph> graph, const Batching& batching,
                                                  const std::string& name, const LoadOptions& options,
                                                  const Shared& shared) {
  RETURN_IF_ERROR(At(fmt::format("model '{}' cannot have batches (max_batch_size)", name), CheckBatches(*graph)));
  // In a forked OS process the threads that wait on the model do not exist, so it cannot be destroyed.
  const auto free = [](BatchedGraph* model) {
    if (!model->started_in_.is_elsewhere()) delete model;
  };
  std::shared_ptr<BatchedGraph> model(new BatchedGraph(std::move(graph), batching, name, options, shared), free);
  RETURN_IF_ERROR(model->Start());
  return model;
}

BatchedGraph::BatchedGraph(std::shared_ptr<Graph> graph, const Batching& batching, std::string name,
                           const LoadOptions& options, const Shared& shared)
    : Graph(options),
      inner_(std::move(graph)),
      batching_(batching),
      name_(std::move(name)),
      shared_(shared),
      instances_(InstancesOf(batching, shared.threads)),
      description_(DescriptionOf(*inner_, batching)),
      memory_("bytes of batches", "max_batch_size", UINT64_MAX),
      pool_user_(shared.pool.NewUser()),
      queue_(batching, instances_, shared.watchdog.clock()) {
  const bool is_late = inner_->has_dynamic_outputs();
  SetInfo({.struct_size = sizeof(wasinn_info),
           .n_inputs = static_cast<uint32_t>(inner_->inputs().size()),
           .n_outputs = is_late ? WASINN_COUNT_UNKNOWN : static_cast<uint32_t>(inner_->outputs().size()),
           .inputs = inner_->inputs().data(),
           .outputs = is_late ? nullptr : inner_->outputs().data(),
           // An inference that waits for a batch holds no place; a batch holds one while it computes.
           .max_parallel = UINT32_MAX,
           .flags = 0,
           .memory = nullptr},
          0, options.metrics);
}

BatchedGraph::~BatchedGraph() {
  stopping_.store(true, std::memory_order_release);
  queue_.Stop();
  for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
}

Status BatchedGraph::Start() {
  RETURN_IF_ERROR(shared_.watchdog.Start());
  threads_.reserve(instances_);
  while (threads_.size() < instances_) {
    pthread_t thread{};
    if (!StartLargeThread(&thread, Work, this)) {
      return Error(WASINN_ERROR_RUNTIME, "the system gives no thread for batches of model '{}'", name_);
    }
    threads_.push_back(thread);
    started_in_.SetToThisProcess();
  }
  return Status();
}

Result<std::unique_ptr<Context>> BatchedGraph::NewContext() {
  // Each compute gets its own limit of bytes.
  return Context::Create(inner_, {.open_deadline = shared_.open_deadline, .stop = &stopping_},
                         {.memory = {memory_, shared_.pool, pool_user_},
                          .watchdog = shared_.watchdog,
                          .scheduler = shared_.scheduler,
                          .share = share_,
                          .metered = {.metrics = &shared_.metrics}});
}

void BatchedGraph::NoteBatch(bool matches) {
  if (matches) {
    mismatches_.store(0, std::memory_order_relaxed);
  } else if (mismatches_.fetch_add(1, std::memory_order_relaxed) + 1 == kMaxMismatches) {
    shared_.logger.Write(WASINN_LOG_WARNING,
                         fmt::format("model '{}': outputs of a batch do not have its rows, {} times in a row: it is "
                                     "computed without batches from now on",
                                     name_, kMaxMismatches));
  }
}

}  // namespace wasinn::core
