#include "onnx/inputs.h"

#include <algorithm>
#include <span>
#include <utility>

#include "onnx/dtype.h"
#include "onnx/tensor.h"

namespace wasinn::onnx {

namespace {

bool HasDims(const std::vector<int64_t>& dims, const wasinn_tensor& tensor) {
  return std::ranges::equal(dims, std::span(tensor.dims, tensor.rank));
}

}  // namespace

Inputs::Inputs(const Model& model, OrtIoBinding* binding) : model_(model), binding_(binding) {
  const auto release = model.host().api().ReleaseValue;
  const auto& ports = model.signature().inputs();
  slots_.reserve(ports.size());
  for (const Port& port : ports) {
    slots_.push_back({.buffer = {},
                      .own = {.value = {nullptr, release}, .dims = {}},
                      .lent = {.value = {nullptr, release}, .dims = {}}});
    slots_.back().own.dims.reserve(port.dims.size());
    slots_.back().lent.dims.reserve(port.dims.size());
  }
}

void Inputs::Set(uint32_t index, wasinn_tensor* tensor) {
  if (index >= slots_.size()) backend::ThrowNoPort("input", index, slots_.size());
  Slot& slot = slots_[index];
  if (slot.own.value == nullptr || !HasDims(slot.own.dims, *tensor)) {
    const Port& port = backend::PortAt(model_.signature().inputs(), "input", index);
    backend::CheckTensor(port, *tensor);
    // Nothing of the slot changes before all that can fail has been done; the old buffer goes when the value is gone.
    backend::AlignedBuffer buffer;
    if (!slot.buffer.IsFor(tensor->bytes)) buffer = backend::AlignedBuffer(tensor->bytes);
    Make(port, *tensor, buffer.data() != nullptr ? buffer.data() : slot.buffer.data(), &slot.own);
    if (slot.bound == &slot.own) slot.bound = nullptr;
    if (buffer.data() != nullptr) slot.buffer = std::move(buffer);
  }
  if (slot.bound != &slot.own) Bind(index, slot.own);
  slot.wanted = true;
  tensor->data = slot.buffer.data();
}

// Memory that comes back is bound already: a host has few buffers of a size, and lends them again and again.
void Inputs::Lend(uint32_t index, const wasinn_tensor& tensor) {
  Slot& slot = slots_[index];
  if (slot.lent.value == nullptr || slot.lent.data != tensor.data || !HasDims(slot.lent.dims, tensor)) {
    const Port& port = backend::PortAt(model_.signature().inputs(), "input", index);
    backend::CheckTensor(port, tensor);
    Make(port, tensor, tensor.data, &slot.lent);
    if (slot.bound == &slot.lent) slot.bound = nullptr;
  }
  if (slot.bound != &slot.lent) Bind(index, slot.lent);
  slot.wanted = true;
}

void Inputs::Make(const Port& port, const wasinn_tensor& tensor, void* data, Value* value) const {
  std::vector<int64_t> dims(tensor.dims, tensor.dims + tensor.rank);
  value->value = MakeTensor(model_.host().library(), model_.host().environment().cpu_memory(), port.ort_type, dims,
                            data, tensor.bytes);
  value->data = data;
  value->dims = std::move(dims);
}

void Inputs::Bind(uint32_t index, const Value& value) {
  const Port& port = model_.signature().inputs()[index];
  slots_[index].bound = nullptr;
  const bool was_stale = std::exchange(stale_, true);  // should this fail, the old value is still in the binding
  model_.host().library().Check(model_.host().api().BindInput(binding_, port.name.c_str(), value.value.get()),
                                port.name.c_str());
  stale_ = was_stale;
  slots_[index].bound = &value;
}

void Inputs::BindForRun() {
  for (const Slot& slot : slots_) stale_ = stale_ || (slot.bound != nullptr && !slot.wanted);
  if (!stale_ && !model_.copies_inputs()) return;
  // A binding forgets all inputs or none.
  if (std::exchange(stale_, false)) model_.host().api().ClearBoundInputs(binding_);
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    const Value* value = std::exchange(slots_[i].bound, nullptr);
    if (slots_[i].wanted && value != nullptr) Bind(i, *value);
  }
}

}  // namespace wasinn::onnx
