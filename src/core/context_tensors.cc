// The part of a context that works on tensors which exist apart from it.
#include <utility>

#include "core/context_internal.h"

namespace wasinn::core {

Status Context::SetInput(uint32_t index, TensorPtr tensor) { return Bind(index, std::move(tensor)); }

Status Context::Bind(uint32_t index, TensorPtr tensor) {
  const wasinn_io& io = *graph_->inputs()[index];
  if (IsUnservable(io)) return Unservable("input", io, table().name);
  Result<TensorDesc> desc = MatchInput(io, tensor->desc(), tensor->bytes().size());
  if (!desc) return std::move(desc.error());
  // Other frameworks' memory may not be as this one likes it.
  const bool foreign = tensor->origin() != nullptr && &tensor->origin()->backend() != &graph_->backend();
  if (foreign) return Fill(index, *desc, tensor->bytes());
  if (Status status = CheckBools(desc->dtype, tensor->bytes(), io); !status.ok()) return status;
  LetGo(index);
  const wasinn_tensor view = ViewOf(*desc, tensor->bytes());
  if (Status status = graph_->backend().Take(table().bind_input(context_, index, &view)); !status.ok()) return status;
  inputs_[index].bound = std::move(tensor);
  inputs_[index].set = true;
  return Status();
}

// What may be read again, or grows yet, stays where it is.
bool Context::CanTake(uint32_t index, const wasinn_tensor& view) const {
  if (table().take_output == nullptr || generated_ || !own_outputs_.empty()) return false;
  return (outputs()[index]->flags & WASINN_IO_ALWAYS) == 0 && !LiesInInput(view);
}

Result<TensorPtr> Context::Take(uint32_t index) {
  wasinn_tensor view{};
  if (Status status = View(index, view); !status.ok()) return std::unexpected(std::move(status));
  if (view.bytes > FixedSize(index)) outgrown_ = true;
  if (!CanTake(index, view)) {
    return SharedTensor::Copy(DescOf(view), {static_cast<const uint8_t*>(view.data), view.bytes}, pool_,
                              Charge(tensor_bytes_), counts_.out);
  }
  // What was charged to the context beyond the signature is charged to the tensor from now on.
  const uint64_t beyond = view.bytes - std::min<uint64_t>(view.bytes, FixedSize(index));
  Charge charge = dynamic_outputs_.Split(beyond);
  if (Status status = charge.Resize(view.bytes); !status.ok()) {
    computed_ = false;
    DiscardOutputs();
    return std::unexpected(std::move(status));
  }
  const TensorDesc desc = DescOf(view);
  wasinn_tensor taken{.struct_size = sizeof(wasinn_tensor)};
  Status status = graph_->backend().Take(table().take_output(context_, index, &taken));
  if (!status.ok()) {
    (void)charge.Resize(beyond);  // the backend has it still
    dynamic_outputs_.Merge(std::move(charge));
    return std::unexpected(std::move(status));
  }
  if (index < views_.size()) views_[index].struct_size = 0;
  views_known_ = false;
  return SharedTensor::Adopt(graph_, desc, taken, std::move(charge));
}

Result<TensorPtr> Context::TakeOutput(uint32_t index) {
  if (Status status = CheckOutput(index); !status.ok()) return std::unexpected(std::move(status));
  taken_.resize(outputs().size());
  if (taken_[index] != nullptr) return taken_[index];
  Result<TensorPtr> tensor = Take(index);
  if (tensor) taken_[index] = *tensor;
  return tensor;
}

Result<std::shared_ptr<const void>> Context::Run(std::span<const Given> inputs, std::pmr::vector<Computed>& computed) {
  CountOne(counts_.computes);
  UnsetInputs();
  computed_ = false;  // whatever becomes of this one: what an earlier one left is discarded in the end
  if (!wanted_.empty() && table().want_outputs == nullptr) outgrown_ = true;  // some are made that nobody looks at
  Status status;
  for (const Given& given : inputs) {
    if (status = Bind(given.index, given.tensor); !status.ok()) break;
  }
  if (status.ok()) status = Execute();
  // Components get outputs or an error, never both: a text that is cut short is worth more.
  if (status.code() == WASINN_CONTEXT_FULL) status = Status();
  if (status.ok()) computed.reserve(outputs().size());
  for (uint32_t i = 0; status.ok() && i < outputs().size(); ++i) {
    computed.push_back({outputs()[i]->name, nullptr});
    if (IsUnservable(*outputs()[i]) || !IsWanted(i)) continue;
    Result<TensorPtr> tensor = Take(i);
    if (tensor) {
      computed.back().tensor = std::move(*tensor);
    } else {
      status = std::move(tensor.error());
    }
  }
  UnsetInputs();
  DiscardOutputs();
  if (!status.ok()) return std::unexpected(std::move(status));
  if (late_ != nullptr) return late_;
  return graph_;
}

}  // namespace wasinn::core
