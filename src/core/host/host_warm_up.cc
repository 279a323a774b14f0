// The part of a host that computes a model before any guest has it. Frameworks do some work only in the first computes:
// they allocate memory for intermediate values, generate code, pack weights.
#include <algorithm>
#include <utility>

#include "core/host/host.h"
#include "core/inference/context.h"
#include "core/inference/ios.h"
#include "core/inference/shared_tensor.h"

namespace wasinn::core {
namespace {

using Shape = std::vector<uint32_t>;

// By the index of the input; null without a configured shape.
Result<std::vector<const Shape*>> ShapesOf(const WarmUp& warm_up, const Graph& graph) {
  std::vector<const Shape*> shapes(graph.inputs().size());
  for (const auto& [name, shape] : warm_up.shapes) {
    ASSIGN_OR_RETURN(const uint32_t index, At("warm_up_shapes", graph.FindInput(name)));
    if (shape.size() > WASINN_MAX_RANK) {
      return Fail(WASINN_ERROR_INVALID_ARGUMENT, "warm_up_shapes: input '{}' has {} dimensions, more than {}", name,
                  shape.size(), WASINN_MAX_RANK);
    }
    shapes[index] = &shape;
  }
  return shapes;
}

Status CheckTakesNumbers(const wasinn_io& io, const char* backend) {
  if (IsUnservable(io)) return Unservable("input", io, backend);
  if ((io.flags & WASINN_IO_OPAQUE) == 0) return Status();
  return Error(WASINN_ERROR_UNSUPPORTED_OPERATION, "input '{}' takes text, and zeros are not text", io.name);
}

// If the model does not say its type, the most usual one.
Result<TensorDesc> TensorFor(const wasinn_io& io, const Shape* shape) {
  TensorDesc desc;
  desc.dtype = io.dtype == WASINN_DTYPE_UNKNOWN ? uint32_t{WASINN_DTYPE_F32} : io.dtype;
  if (shape != nullptr) {
    desc.rank = static_cast<uint32_t>(shape->size());
    std::ranges::copy(*shape, desc.dims);
    return desc;
  }
  if (io.rank < 0) {
    return Fail(WASINN_ERROR_INVALID_ARGUMENT, "input '{}' may have any rank: warm_up_shapes must give its shape",
                io.name);
  }
  desc.rank = static_cast<uint32_t>(io.rank);
  std::transform(io.dims, io.dims + io.rank, desc.dims, [](int64_t dim) { return dim < 0 ? 1 : dim; });
  return desc;
}

Result<TensorPtr> Zeros(const TensorDesc& desc, const wasinn_io& io, const TensorMemory& memory) {
  const std::optional<uint64_t> bytes = ByteSize(desc.dtype, desc.shape());
  if (!bytes) return Fail(WASINN_ERROR_TOO_LARGE, "input '{}': the size of {} overflows", io.name, Describe(desc));
  Reservation charge(memory.quota);
  RETURN_IF_ERROR(charge.Resize(*bytes));
  BufferPool::Buffer buffer = memory.pool.Take(memory.pool_user, *bytes);
  std::fill_n(buffer.data(), *bytes, uint8_t{0});
  return SharedTensor::Of(desc, *bytes, std::move(buffer), std::move(charge));
}

// Optional inputs stay unset, unless a shape is configured.
Status SetInputs(Context& context, const WarmUp& warm_up, const TensorMemory& memory) {
  const Graph& graph = *context.graph();
  ASSIGN_OR_RETURN(const std::vector<const Shape*> shapes, ShapesOf(warm_up, graph));
  for (uint32_t i = 0; i < graph.inputs().size(); ++i) {
    const wasinn_io& io = *graph.inputs()[i];
    if (shapes[i] == nullptr && (io.flags & WASINN_IO_OPTIONAL) != 0) continue;
    RETURN_IF_ERROR(CheckTakesNumbers(io, graph.backend_name()));
    ASSIGN_OR_RETURN(const TensorDesc desc, TensorFor(io, shapes[i]));
    ASSIGN_OR_RETURN(TensorPtr zeros, Zeros(desc, io, memory));
    RETURN_IF_ERROR(context.SetInput(i, std::move(zeros)));
  }
  return Status();
}

// Computes on zeros, on a context of its own, until the first failure.
Status Run(const WarmUp& warm_up, std::shared_ptr<const Graph> graph, const Context::Options& options,
           const Resources& resources) {
  ASSIGN_OR_RETURN(std::unique_ptr<Context> context, Context::Create(std::move(graph), options, resources));
  Status status = SetInputs(*context, warm_up, resources.memory);
  for (uint32_t i = 0; status.ok() && i < warm_up.computes; ++i) status = context->Compute(nullptr);
  return status;
}

}  // namespace

// Within the limits of the host's guests, and as long as a caller wants the model. If a compute fails, the load fails,
// as in Triton: a model that cannot compute is not served.
Status Host::WarmUpGraph(const std::shared_ptr<Graph>& graph, const ModelSource& source, const WaitOptions& wait) {
  Quota bytes("bytes of tensors", "limits.max_tensor_bytes", limits_.max_tensor_bytes);
  Scheduler::Share share;
  const Status status = Run(source.warm_up, graph,
                            {.compute_deadline = std::chrono::milliseconds(limits_.compute_timeout_ms),
                             .max_compute_bytes = limits_.max_tensor_bytes,
                             .open_deadline = std::chrono::milliseconds(limits_.load_timeout_ms),
                             .stop = wait.stop},
                            {{bytes, *buffers_, buffers_->NewUser()}, watchdog_, scheduler_, share});
  if (status.ok()) return Status();
  // A missed deadline is the model's failure, for all callers. If a guest was stopped, the next caller tries again.
  const bool is_stopped = wait.stop != nullptr && wait.stop->load(std::memory_order_acquire);
  const bool is_late = status.code() == WASINN_ERROR_TIMEOUT && !is_stopped;
  return Status(is_late ? WASINN_ERROR_RUNTIME : status.code(),
                fmt::format("{}: its warm-up failed: {}", source.title(), status.message()),
                std::string(status.backend()));
}

}  // namespace wasinn::core
