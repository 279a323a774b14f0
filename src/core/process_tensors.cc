// The part of a process that holds tensors and errors as objects of their own.
#include <algorithm>
#include <vector>

#include "core/process.h"

namespace wasinn::core {

Result<uint32_t> Process::Hold(TensorPtr tensor) {
  auto guest = std::make_shared<GuestTensor>(GuestTensor{Charge(tensor_count_), std::move(tensor)});
  if (Status status = guest->count.Resize(1); !status.ok()) return std::unexpected(std::move(status));
  return tensors_.Insert(std::move(guest));
}

Result<uint32_t> Process::NewTensor(const TensorDesc& desc, std::span<const uint8_t> bytes) {
  if (tensor_count_.used() >= tensor_count_.limit()) return Hold(nullptr);  // fails, before anything is copied
  Result<TensorPtr> tensor = SharedTensor::Copy(desc, bytes, host_->buffers(), Charge(tensor_bytes_), copied_in_);
  if (!tensor) return std::unexpected(std::move(tensor.error()));
  return Hold(std::move(*tensor));
}

Result<TensorPtr> Process::GetTensor(uint32_t handle) const {
  Result<std::shared_ptr<GuestTensor>> guest = tensors_.Get(handle);
  if (!guest) return std::unexpected(std::move(guest.error()));
  return (*guest)->tensor;
}

Status Process::DropTensor(uint32_t handle) {
  Result<std::shared_ptr<GuestTensor>> guest = tensors_.Remove(handle);
  return guest ? Status() : std::move(guest.error());
}

Status Process::SetInput(uint32_t handle, const NamedTensor& input) {
  Result<std::shared_ptr<GuestContext>> guest = contexts_.Get(handle);
  if (!guest) return std::move(guest.error());
  const Result<uint32_t> index = (*guest)->context->graph()->FindInput(input.name);
  if (!index) return Status(index.error().code(), std::string(index.error().message()));
  return (*guest)->context->SetInput(*index, input.tensor, copied_in_);
}

Result<uint32_t> Process::TakeOutput(uint32_t handle, std::string_view name) {
  Result<std::shared_ptr<GuestContext>> guest = contexts_.Get(handle);
  if (!guest) return std::unexpected(std::move(guest.error()));
  Result<uint32_t> index = (*guest)->context->graph()->FindOutput(name);
  if (!index) return index;
  Result<TensorPtr> tensor = (*guest)->context->TakeOutput(*index, host_->buffers(), copied_out_);
  if (!tensor) return std::unexpected(std::move(tensor.error()));
  return Hold(std::move(*tensor));
}

Result<Process::Outputs> Process::Run(uint32_t handle, std::span<const NamedTensor> inputs) {
  Result<std::shared_ptr<GuestContext>> guest = contexts_.Get(handle);
  if (!guest) return std::unexpected(std::move(guest.error()));
  Context& context = *(*guest)->context;
  const Graph& graph = *context.graph();
  if (inputs.size() > graph.inputs().size()) {
    return Fail(WASINN_INVALID_ARGUMENT, "{} inputs are given, the model has {}", inputs.size(), graph.inputs().size());
  }
  std::vector<Context::Given> given;
  given.reserve(inputs.size());
  for (const NamedTensor& input : inputs) {
    Result<uint32_t> index = graph.FindInput(input.name);
    if (!index) return std::unexpected(std::move(index.error()));
    given.push_back({*index, input.tensor});
  }
  std::ranges::sort(given, {}, &Context::Given::index);
  const auto twice = std::ranges::adjacent_find(given, {}, &Context::Given::index);
  if (twice != given.end()) {
    return Fail(WASINN_INVALID_ARGUMENT, "input '{}' is given twice", graph.inputs()[twice->index]->name);
  }
  computes_.fetch_add(1, std::memory_order_relaxed);
  std::vector<TensorPtr> tensors;
  Status status = context.Run(given, host_->buffers(), copied_in_, copied_out_, tensors);
  Outputs outputs{context.graph(), {}};
  for (size_t i = 0; status.ok() && i < tensors.size(); ++i) {
    Result<uint32_t> tensor = tensors[i] == nullptr ? 0 : Hold(std::move(tensors[i]));
    if (tensor) {
      outputs.tensors.push_back(*tensor);
    } else {
      status = std::move(tensor.error());
    }
  }
  if (status.ok()) return outputs;
  for (uint32_t tensor : outputs.tensors) (void)tensors_.Remove(tensor);
  return std::unexpected(std::move(status));
}

void Process::CountCopyOut(size_t bytes) {
  copied_out_.copies.fetch_add(1, std::memory_order_relaxed);
  copied_out_.bytes.fetch_add(bytes, std::memory_order_relaxed);
}

Result<uint32_t> Process::NewError(uint32_t number, std::string message) {
  auto error = std::make_shared<GuestError>(GuestError{Charge(error_count_), number, std::move(message)});
  if (Status status = error->count.Resize(1); !status.ok()) return std::unexpected(std::move(status));
  return errors_held_.Insert(std::move(error));
}

Status Process::DropError(uint32_t handle) {
  Result<std::shared_ptr<GuestError>> error = errors_held_.Remove(handle);
  return error ? Status() : std::move(error.error());
}

}  // namespace wasinn::core
