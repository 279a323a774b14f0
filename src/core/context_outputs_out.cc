// The part of a context's outputs that chooses them and gives them away.
#include <utility>

#include "core/context_outputs.h"

namespace wasinn::core {

Status ContextOutputs::CheckWantable(uint32_t index) const {
  const Graph& graph = slot_.graph();
  const size_t count = graph.has_late_outputs() ? LateOutputs::kMost : graph.outputs().size();
  if (index >= count) return NoSuchIndex("output", index, count);
  if (graph.has_late_outputs() || !IsUnservable(*graph.outputs()[index])) return Status();
  return Unservable("output", *graph.outputs()[index], slot_.table().name);
}

Status ContextOutputs::Want(const Destination& destination) {
  if (Status status = CheckWantable(destination.index); !status.ok()) return status;
  const size_t before = wanted_.indices().size();
  wanted_.Add(destination);
  if (wanted_.indices().size() != before) SetWanted();
  return Status();
}

Status ContextOutputs::Select(std::span<const uint32_t> indices) {
  for (uint32_t index : indices) {
    if (Status status = CheckWantable(index); !status.ok()) return status;
  }
  wanted_.Select(indices);
  SetWanted();
  return Status();
}

// They are as any that the framework allocates.
void ContextOutputs::Keep(std::span<const uint32_t> indices) {
  kept_.assign(indices.begin(), indices.end());
  for (const uint32_t index : indices) {
    Output& output = outputs_[index];
    all_bindable_ = false;
    if (std::exchange(output.bindable, false) && !slot_.is_own()) {
      (void)static_.Resize(static_.held() - output.fixed_bytes);  // as LeaveSlot
    }
  }
}

// What an earlier compute produced is not what is wanted now. A generation makes all outputs.
void ContextOutputs::SetWanted() {
  if (!state_.has_generated()) state_.Clear();
}

// What may be read again, or grows yet, stays where it is.
bool ContextOutputs::CanTake(uint32_t index) const {
  return slot_.table().take_output != nullptr && !state_.has_generated() &&
         (ios()[index]->flags & WASINN_IO_ALWAYS) == 0;
}

// The next compute gets other memory.
Result<TensorPtr> ContextOutputs::GiveOwn(uint32_t index) {
  Output& output = outputs_[index];
  Charge charge(memory_.quota);
  if (Status status = charge.Resize(output.fixed_bytes); !status.ok()) return std::unexpected(std::move(status));
  TensorPtr tensor =
      SharedTensor::Of(DescOf(output.view), output.fixed_bytes, std::move(output.memory), std::move(charge));
  output.view.struct_size = 0;
  output.bound = nullptr;
  bound_ = false;
  return tensor;
}

Result<TensorPtr> ContextOutputs::Take(uint32_t index) {
  if (LiesInOwn(index)) return GiveOwn(index);
  if (WasMoved(index)) return outputs_[index].moved;
  wasinn_tensor view{};
  if (Status status = View(index, view); !status.ok()) return std::unexpected(std::move(status));
  if (view.bytes > FixedSize(index)) outgrown_ = true;
  if (CanTake(index)) return TakeFromSlot(index, view);
  return SharedTensor::Copy(DescOf(view), {static_cast<const uint8_t*>(view.data), view.bytes}, memory_.pool,
                            memory_.pool_user, Charge(memory_.quota), count_);
}

Result<TensorPtr> ContextOutputs::TakeFromSlot(uint32_t index, const wasinn_tensor& view) {
  const auto tensor = SharedTensor::New();
  // What was charged to the context beyond the signature is charged to the tensor from now on.
  const uint64_t beyond = view.bytes - std::min<uint64_t>(view.bytes, BytesInSlot(index));
  Charge charge = dynamic_.Split(beyond);
  if (Status status = charge.Resize(view.bytes); !status.ok()) {
    state_.Clear();
    Discard();
    return std::unexpected(std::move(status));
  }
  const TensorDesc desc = DescOf(view);
  wasinn_tensor taken{.struct_size = sizeof(wasinn_tensor)};
  Status status = slot_.StatusOf(slot_.table().take_output(slot_.get(), index, &taken));
  if (!status.ok()) {
    (void)charge.Resize(beyond);  // the backend has it still
    dynamic_.Merge(std::move(charge));
    return std::unexpected(std::move(status));
  }
  if (index < outputs_.size()) outputs_[index].view.struct_size = 0;
  if (taken.memory != nullptr) status = CheckMemory(index, taken.memory);
  tensor->Adopt(slot_.shared_graph(), desc, taken, std::move(charge));
  if (!status.ok()) return std::unexpected(std::move(status));
  if (taken.bytes == view.bytes && (taken.data != nullptr || taken.bytes == 0)) return tensor;
  return std::unexpected(Status(WASINN_RUNTIME_ERROR,
                                fmt::format("the backend gave {} bytes of an output of {}", taken.bytes, view.bytes),
                                slot_.table().name));
}

Result<TensorPtr> ContextOutputs::TakeOnce(uint32_t index) {
  if (Status status = Check(index); !status.ok()) return std::unexpected(std::move(status));
  taken_.resize(ios().size());
  if (taken_[index] != nullptr) return taken_[index];
  Result<TensorPtr> tensor = Take(index);
  if (tensor) taken_[index] = *tensor;
  return tensor;
}

// Checked again, since a memory may be another one by now.
Status ContextOutputs::WriteOne(const Destination& destination, std::span<const uint8_t> bytes,
                                const GuestMemory& memory) {
  const auto size = static_cast<uint32_t>(std::min<size_t>(bytes.size(), UINT32_MAX));
  if (!memory.Store(destination.written, size)) {
    return OutOfRange("the place for an output's size", destination.written, sizeof(size));
  }
  const auto buffer = memory.Range(destination.buffer, destination.size);
  if (!buffer) return OutOfRange("an output buffer", destination.buffer, destination.size);
  if (bytes.size() > buffer->size()) {
    return Error(WASINN_TOO_LARGE, "output {} has {} bytes, its buffer {}", destination.index, bytes.size(),
                 buffer->size());
  }
  CopyTensorBytes(buffer->first(bytes.size()), bytes, count_);
  return Status();
}

Status ContextOutputs::Write(const GuestMemory& memory) {
  Status first;
  for (const Destination& destination : wanted_.destinations()) {
    if (destination.buffer == 0) continue;
    Status status = Check(destination.index);
    wasinn_tensor view{};
    if (status.ok()) status = View(destination.index, view);
    if (status.ok()) {
      status = WriteOne(destination, {static_cast<const uint8_t*>(view.data), view.bytes}, memory);
    }
    if (!status.ok() && first.ok()) first = std::move(status);
  }
  return first;
}

}  // namespace wasinn::core
