#include "onnx/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "onnx/values.h"

namespace wasinn::onnx {

Inputs::Inputs(const Model& model, OrtIoBinding* binding) : model_(model), binding_(binding) {
  const auto release = model.host().api().ReleaseValue;
  const auto& ports = model.signature().inputs();
  slots_.reserve(ports.size());
  for (const Port& port : ports) {
    slots_.push_back({.value = {nullptr, release}, .dims = {}});
    slots_.back().dims.reserve(port.dims.size());
    has_strings_ = has_strings_ || port.is_strings;
  }
}

// Memory that comes back is bound already: a host has few buffers of a size, and binds them again and again.
void Inputs::Bind(uint32_t index, const wasinn_tensor& tensor) {
  if (index >= slots_.size()) backend::ThrowNoPort("input", index, slots_.size());
  Slot& slot = slots_[index];
  slot.wanted = false;
  const OrtMemoryInfo* const place = PlaceOf(index, tensor);
  const bool is_made = slot.value != nullptr || (slot.data != nullptr && model_.signature().inputs()[index].is_strings);
  const bool same = is_made && slot.data == tensor.data && slot.place == place &&
                    std::ranges::equal(slot.dims, std::span(tensor.dims, tensor.rank));
  if (!same) Make(index, tensor, place);
  const bool is_put = slot.bound || model_.copies_inputs() || slot.value == nullptr;
  if (!is_put) PutIntoBinding(index);
  slot.wanted = true;
}

const OrtMemoryInfo* Inputs::PlaceOf(uint32_t index, const wasinn_tensor& tensor) const {
  if (tensor.memory == nullptr) return model_.host().environment().cpu_memory();
  const DeviceMemory* const device = model_.device_memory();
  if (device != nullptr && std::string_view(device->name()) == tensor.memory) return device->info();
  throw backend::Error(WASINN_ERROR_INVALID_ARGUMENT,
                       fmt::format("input '{}' lies in the memory of {}, where this model does not compute",
                                   model_.signature().inputs()[index].name, tensor.memory));
}

void Inputs::Make(uint32_t index, const wasinn_tensor& tensor, const OrtMemoryInfo* place) {
  const Port& port = backend::PortAt(model_.signature().inputs(), "input", index);
  backend::CheckTensor(port, tensor);
  std::vector<int64_t> dims(tensor.dims, tensor.dims + tensor.rank);
  Slot& slot = slots_[index];
  if (port.is_strings) {
    (void)backend::StringsOf(port, dims, tensor.data);
  } else {
    slot.value = model_.host().library().TensorOver(place, port.ort_type, dims, tensor.data, tensor.bytes);
  }
  if (model_.copies_inputs()) stale_ = stale_ || slot.bound;  // until the next run, which may be without this input
  slot.bound = false;
  slot.data = tensor.data;
  slot.place = place;
  slot.dims = std::move(dims);
}

void Inputs::PutIntoBinding(uint32_t index) {
  const Port& port = model_.signature().inputs()[index];
  const bool was_stale = std::exchange(stale_, true);  // should this fail, an old value may still be in the binding
  model_.host().library().Check(model_.host().api().BindInput(binding_, port.name.c_str(), slots_[index].value.get()),
                                port.name.c_str());
  stale_ = was_stale;
  slots_[index].bound = true;
}

void Inputs::PutStrings(uint32_t index, MemoryBudget& budget) {
  const Port& port = model_.signature().inputs()[index];
  Slot& slot = slots_[index];
  slot.value = MakeStringTensor(model_.host().library(), backend::StringsOf(port, slot.dims, slot.data), budget);
  PutIntoBinding(index);
}

void Inputs::AfterRun() {
  if (!has_strings_) return;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    if (!model_.signature().inputs()[i].is_strings) continue;
    slots_[i].value.reset();
    slots_[i].bound = false;
  }
  Rebind();
}

void Inputs::BindForRun(MemoryBudget& budget) {
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].wanted) continue;
    const Port& port = model_.signature().inputs()[i];
    if (port.required()) backend::ThrowUnset(port);
    stale_ = stale_ || slots_[i].bound;
  }
  if (stale_ || model_.copies_inputs()) Rebind();
  for (uint32_t i = 0; has_strings_ && i < slots_.size(); ++i) {
    if (slots_[i].wanted && model_.signature().inputs()[i].is_strings) PutStrings(i, budget);
  }
}

// A binding forgets all inputs or none.
void Inputs::Rebind() {
  if (std::exchange(stale_, false) || has_strings_) model_.host().api().ClearBoundInputs(binding_);
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    const bool had = std::exchange(slots_[i].bound, false);
    if (slots_[i].wanted && slots_[i].value != nullptr && (had || model_.copies_inputs())) PutIntoBinding(i);
  }
}

}  // namespace wasinn::onnx
