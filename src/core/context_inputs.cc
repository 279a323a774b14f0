// The part of a context that holds its inputs: their bytes, and what of them the backend has.
#include <algorithm>
#include <functional>
#include <utility>

#include "core/context_internal.h"

namespace wasinn::core {

Status Context::SetInput(uint32_t index, const TensorDesc& given, std::span<const uint8_t> bytes,
                         const GuestMemory& memory) {
  if (index >= inputs_.size()) return NoSuchIndex("input", index, inputs_.size());
  if (IsJustACopy(index, given, bytes.size())) {
    CopyTensorBytes({inputs_[index].own->buffer.data(), bytes.size()}, bytes, counts_.in);
    return Status();
  }
  const wasinn_io& io = *graph_->inputs()[index];
  if (IsUnservable(io)) return Unservable("input", io, table().name);
  Result<TensorDesc> tensor = MatchInput(io, given, bytes.size());
  if (!tensor) return std::move(tensor.error());
  if (inputs_by_reference_ && CanLend(index, *tensor, bytes, memory)) return Lend(index, *tensor, bytes, memory);
  return Fill(index, *tensor, bytes);
}

// Most are: all was checked, charged and bound when the same was set before.
bool Context::IsJustACopy(uint32_t index, const TensorDesc& given, size_t bytes) const {
  const Input& input = inputs_[index];
  if (!input.set || input.own == nullptr || generating_ || inputs_by_reference_) return false;
  const OwnInput& own = *input.own;
  return own.bound && !own.looked_at && own.dtype == given.dtype && own.bytes == bytes &&
         std::ranges::equal(own.dims, given.shape());
}

Status Context::Fill(uint32_t index, const TensorDesc& tensor, std::span<const uint8_t> bytes) {
  Input& input = inputs_[index];
  if (input.bound != nullptr || input.lent != nullptr) LetGo(index);
  if (Status status = input.charge.Resize(bytes.size()); !status.ok()) return status;
  EndGeneration();
  // From here the old value is gone: after a failure the input is unset, so that the guest never computes on memory
  // that nobody wrote.
  input.set = false;
  Status status = CopyIn(index, tensor, bytes);
  input.set = status.ok();
  return status;
}

// What it takes is charged already.
Status Context::CopyIn(uint32_t index, const TensorDesc& tensor, std::span<const uint8_t> bytes) {
  Input& input = inputs_[index];
  if (input.own == nullptr || input.own->bytes != bytes.size()) MakeOwn(input, index, bytes.size());
  const std::span<uint8_t> copy(input.own->buffer.data(), bytes.size());
  CopyTensorBytes(copy, bytes, counts_.in);
  // Checked in the copy, since the guest may be writing the original.
  Status status = CheckBools(tensor.dtype, copy, *graph_->inputs()[index]);
  if (status.ok()) status = BindOwn(index, tensor);
  if (!status.ok()) Unbind(index);
  return status;
}

// Memory of another size goes first: what is charged is what is held.
void Context::MakeOwn(Input& input, uint32_t index, size_t bytes) {
  if (input.own != nullptr) {
    Unbind(index);
    input.own.reset();
  }
  auto own = std::make_unique<OwnInput>();
  own->buffer = pool_.Take(bytes);
  own->bytes = bytes;
  input.own = std::move(own);
}

// Once for a shape: a backend looks at the bytes in a compute, and not before. But text it may have read.
Status Context::BindOwn(uint32_t index, const TensorDesc& tensor) {
  OwnInput& own = *inputs_[index].own;
  const bool opaque = (graph_->inputs()[index]->flags & WASINN_IO_OPAQUE) != 0;
  own.looked_at = opaque || tensor.dtype == WASINN_BOOL;
  const bool same = own.dtype == tensor.dtype && std::ranges::equal(own.dims, tensor.shape());
  if (own.bound && same && !opaque) return Status();
  own.bound = false;
  own.dtype = tensor.dtype;
  own.dims.assign(tensor.dims, tensor.dims + tensor.rank);
  const wasinn_tensor view = ViewOf(tensor, {own.buffer.data(), own.bytes});
  Status status = graph_->backend().Take(table().bind_input(context_, index, &view));
  own.bound = status.ok();
  return status;
}

void Context::Unbind(uint32_t index) {
  table().unbind_input(context_, index);
  if (inputs_[index].own != nullptr) inputs_[index].own->bound = false;
}

// A generation that is under way may still read it.
void Context::LetGo(uint32_t index) {
  EndGeneration();
  Input& input = inputs_[index];
  if (input.set || input.own != nullptr) Unbind(index);
  input.set = false;
  input.bound.reset();
  input.own.reset();
  EndLoan(input);
  (void)input.charge.Resize(0);
}

void Context::EndLoan(Input& input) {
  if (std::exchange(input.lent, nullptr) != nullptr) --n_lent_;
}

void Context::UnsetInputs() {
  for (uint32_t i = 0; i < inputs_.size(); ++i) LetGo(i);
}

Status Context::CheckInputsSet() const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const wasinn_io& io = *graph_->inputs()[i];
    if (inputs_[i].set || (io.flags & WASINN_IO_OPTIONAL) != 0) continue;
    if (IsUnservable(io)) return Unservable("input", io, table().name);
    return Error(WASINN_INVALID_ARGUMENT, "input {} ('{}') was not set", i, io.name);
  }
  return Status();
}

// A framework may hand an input on as an output; such a one must not outlive the input.
bool Context::LiesInInput(const wasinn_tensor& view) const {
  const auto* data = static_cast<const uint8_t*>(view.data);
  return std::ranges::any_of(inputs_, [data](const Input& input) {
    std::span<const uint8_t> bytes;
    if (input.bound != nullptr) bytes = input.bound->bytes();
    if (input.own != nullptr) bytes = {input.own->buffer.data(), input.own->bytes};
    return std::greater_equal<>()(data, bytes.data()) && std::less<>()(data, bytes.data() + bytes.size());
  });
}

}  // namespace wasinn::core
