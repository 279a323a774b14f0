// The part of a guest that holds tensors and errors as objects.
#include <algorithm>
#include <vector>

#include "core/host/guest.h"

namespace wasinn::core {

// A tensor with two handles counts twice, so the count belongs to the handle: DropTensor gives it back.
Result<uint32_t> Guest::Hold(TensorPtr tensor, Reservation count) {
  RETURN_IF_ERROR(count.Resize(1));
  Result<uint32_t> handle = tensors_.Insert(std::move(tensor));
  if (handle) count.Release();
  return handle;
}

Result<uint32_t> Guest::NewTensor(const TensorDesc& desc, std::span<const uint8_t> bytes) {
  Reservation count(tensor_count_);
  RETURN_IF_ERROR(count.Resize(1));  // before the copy
  CopyCount copied;
  Result<TensorPtr> tensor =
      SharedTensor::Copy(desc, bytes, host_->buffers(), pool_user_, Reservation(tensor_bytes_), copied);
  copies_in_.fetch_add(copied.copies, std::memory_order_relaxed);
  bytes_in_.fetch_add(copied.bytes, std::memory_order_relaxed);
  if (!tensor) return std::unexpected(std::move(tensor.error()));
  return Hold(std::move(*tensor), std::move(count));
}

Status Guest::DropTensor(uint32_t handle) {
  ASSIGN_OR_RETURN(const TensorPtr tensor, TakeTensor(handle));
  EndTensors(1);
  return Status();
}

// Both are found before either is changed.
Status Guest::SetInputFromOutput(uint32_t handle, uint32_t input, uint32_t from, uint32_t output) {
  Use source(*this, from);
  if (!source) return source.TakeError();
  if (handle == from) return MoveOutput(*source, output, *source, input);
  Use context(*this, handle);
  return context ? MoveOutput(*source, output, *context, input) : context.TakeError();
}

Status Guest::MoveOutput(Context& from, uint32_t output, Context& to, uint32_t input) {
  RETURN_IF_ERROR(to.CheckInput(input));
  Result<TensorPtr> tensor = from.TakeOutput(output);
  return tensor ? to.SetInput(input, std::move(*tensor)) : std::move(tensor.error());
}

Status Guest::Resolve(const Graph& graph, std::span<const NamedTensor> inputs,
                      std::pmr::vector<Context::TensorInput>& given) {
  if (inputs.size() > graph.inputs().size()) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "{} inputs are given, the model has {}", inputs.size(),
                 graph.inputs().size());
  }
  given.reserve(inputs.size());
  for (const NamedTensor& input : inputs) {
    ASSIGN_OR_RETURN(uint32_t index, graph.FindInput(input.name));
    given.push_back({index, input.tensor});
  }
  std::ranges::sort(given, {}, &Context::TensorInput::index);
  const auto twice = std::ranges::adjacent_find(given, {}, &Context::TensorInput::index);
  if (twice == given.end()) return Status();
  return Error(WASINN_ERROR_INVALID_ARGUMENT, "input '{}' is given twice", graph.inputs()[twice->index]->name);
}

Result<std::shared_ptr<const void>> Guest::Run(uint32_t handle, std::span<const NamedTensor> inputs,
                                               std::pmr::vector<Output>& outputs) {
  Use context(*this, handle);
  if (!context) return std::unexpected(context.TakeError());
  const Graph& graph = *context->graph();
  ScratchMemory scratch;
  std::pmr::vector<Context::TensorInput> given(&scratch.resource);
  RETURN_IF_ERROR(Resolve(graph, inputs, given));
  std::pmr::vector<Context::TensorOutput> computed(&scratch.resource);
  ASSIGN_OR_RETURN(std::shared_ptr<const void> names, context->Run(given, computed));
  RETURN_IF_ERROR(HoldAll(computed, outputs));
  return names;
}

Status Guest::HoldAll(std::span<Context::TensorOutput> computed, std::pmr::vector<Output>& outputs) {
  UnreportedOutputs unreported(*this, outputs);
  outputs.reserve(computed.size());  // so that the list contains every tensor that is held
  for (Context::TensorOutput& output : computed) {
    if (output.tensor == nullptr) continue;
    ASSIGN_OR_RETURN(uint32_t tensor, Hold(std::move(output.tensor)));
    outputs.push_back({output.name, tensor});
  }
  unreported.SetReported();
  return Status();
}

void Guest::CountCopyOut(size_t bytes) {
  copies_out_.fetch_add(1, std::memory_order_relaxed);
  bytes_out_.fetch_add(bytes, std::memory_order_relaxed);
}

Result<uint32_t> Guest::NewError(uint32_t number, wasinn_code code, std::string message) {
  auto error = std::make_shared<GuestError>(
      GuestError{Reservation(error_count_), number, code, std::move(message), Reservation(tensor_bytes_)});
  RETURN_IF_ERROR(error->count.Resize(1));
  if (const size_t size = error->message.size(); size > kMaxMessageBytes) {
    RETURN_IF_ERROR(error->bytes.Resize(size));
  }
  return errors_held_.Insert(std::move(error));
}

Status Guest::DropError(uint32_t handle) {
  Result<std::shared_ptr<GuestError>> error = errors_held_.Remove(handle);
  return error ? Status() : std::move(error.error());
}

Status Guest::Start(uint32_t handle, std::span<const NamedTensor> inputs) {
  Use context(*this, handle);
  if (!context) return context.TakeError();
  ScratchMemory scratch;
  std::pmr::vector<Context::TensorInput> given(&scratch.resource);
  RETURN_IF_ERROR(Resolve(*context->graph(), inputs, given));
  return context->Start(given);
}

}  // namespace wasinn::core
