#include "onnx/tensors.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/dtype.h"
#include "common/throw.h"
#include "onnx/values.h"

namespace wasinn::onnx {

using backend::Throw;

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

// Memory that comes again is bound already: a host has few buffers of a size, and binds them again and again.
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
  Throw(WASINN_ERROR_INVALID_ARGUMENT, "input '{}' lies in the memory of {}, where this model does not compute",
        model_.signature().inputs()[index].name, tensor.memory);
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
  if (model_.copies_inputs()) stale_ = stale_ || slot.bound;  // until the next run, which may not have this input
  slot.bound = false;
  slot.data = tensor.data;
  slot.place = place;
  slot.dims = std::move(dims);
}

void Inputs::PutIntoBinding(uint32_t index) {
  const Port& port = model_.signature().inputs()[index];
  const bool was_stale = std::exchange(stale_, true);  // after an error, an old value may still be in the binding
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

Outputs::Outputs(const Model& model, OrtIoBinding* binding) : model_(model), binding_(binding) {
  for (const Port& port : model.signature().outputs()) {
    slots_.push_back({.bound = {nullptr, model.host().api().ReleaseValue}, .memory = nullptr, .view = {}, .dims = {}});
    // ONNX Runtime returns the values in the order in which outputs were bound.
    Release(port, &slots_.back());
    if (port.element == 0) bound_slots_.push_back(static_cast<uint32_t>(slots_.size() - 1));
    all_bindable_ = all_bindable_ && port.bindable();
    if (port.bindable()) bindable_bytes_ = backend::AddSat(bindable_bytes_, port.bytes());
  }
}

void Outputs::SetKept(std::span<const uint32_t> indices) {
  n_kept_ = 0;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    const Port& port = model_.signature().outputs()[i];
    Slot& slot = slots_[i];
    slot.kept = model_.device_memory() != nullptr && !port.is_input && port.sequence.empty() &&
                std::ranges::binary_search(indices, i);
    if (!slot.kept) continue;
    ++n_kept_;
    if (slot.bound == nullptr) continue;
    slot.bound.reset();
    --n_bound_;
  }
}

void Outputs::Bind(uint32_t index, const wasinn_tensor& tensor) {
  const Port& port = backend::PortAt(model_.signature().outputs(), "output", index);
  Slot& slot = slots_[index];
  backend::CheckBindable(port, tensor);
  if (!trusts_shapes_ || (slot.bound != nullptr && slot.view.data == tensor.data)) return;
  if (slot.bound != nullptr) --n_bound_;
  slot.bound.reset();
  const OrtLibrary& library = model_.host().library();
  OrtPtr<OrtValue> value =
      library.TensorOver(model_.host().environment().cpu_memory(), port.ort_type, port.dims, tensor.data, tensor.bytes);
  library.Check(library.api().BindOutput(binding_, port.name.c_str(), value.get()), port.name.c_str());
  slot.bound = std::move(value);
  ++n_bound_;
  slot.view = backend::ViewOf(port.io.dtype, port.dims, tensor.data);
}

void Outputs::BeforeRun() {
  if (AllAreBound()) return;  // as in most models
  const auto& ports = model_.signature().outputs();
  fetched_ = false;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    if (!IsBound(i)) {
      Release(ports[i], &slots_[i]);
    } else if (slots_[i].bound == nullptr) {
      backend::ThrowUnbound(ports[i]);
    }
  }
}

void Outputs::Discard() {
  const auto& ports = model_.signature().outputs();
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    if (IsBound(i)) continue;
    Release(ports[i], &slots_[i]);
    slots_[i].memory.reset();
  }
}

// Releases the value that ONNX Runtime allocated: binding the output to the device also removes it from the binding.
void Outputs::Release(const Port& port, Slot* slot) {
  slot->seen = false;
  if (slot->memory != nullptr) slot->memory->value.reset();
  if (port.element > 0) return;
  const OrtLibrary& library = model_.host().library();
  library.Check(library.api().BindOutputToDevice(binding_, port.source().c_str(), PlaceOf(*slot)), port.name.c_str());
}

void Outputs::AfterRun(MemoryBudget& budget, const std::atomic<bool>& cancelled) {
  if (AllAreBound()) return;
  const auto& ports = model_.signature().outputs();
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (!ports[i].servable()) {
      Release(ports[i], &slots_[i]);
      continue;
    }
    if (!ports[i].is_converted() && !ports[i].is_input) continue;
    if (cancelled) Throw(WASINN_ERROR_TIMEOUT, "the compute was cancelled while it converted its outputs");
    FetchValues();
    Slot& source = slots_[ports[i].element > 0 ? ports[i].first : i];
    if (!source.has_value()) {
      Throw(WASINN_ERROR_RUNTIME, "ONNX Runtime gave no value for output '{}'", ports[i].name);
    }
    if (ports[i].is_converted()) {
      Convert(ports[i], source.memory->value.get(), &slots_[i], budget);
      if (ports[i].element + 1 == ports[i].n_elements) source.memory->value.reset();
    } else {
      KeepPassedOn(ports[i], &slots_[i]);
    }
  }
}

void Outputs::Convert(const Port& port, const OrtValue* value, Slot* slot, MemoryBudget& budget) {
  const OrtLibrary& library = model_.host().library();
  if (slot->memory == nullptr) slot->memory = std::make_unique<OutputMemory>(library.api().ReleaseValue);
  backend::AlignedBuffer& buffer = slot->memory->buffer;
  const auto read = !port.sequence.empty() ? ReadElement : port.is_strings ? ReadStrings : ReadClassMaps;
  slot->dims = read(library, value, port, budget, &buffer);
  slot->seen = true;
  slot->view = backend::ViewOf(port.io.dtype, slot->dims, buffer.data());
}

bool Outputs::TrustNoShapes() {
  bindable_bytes_ = 0;
  for (Slot& slot : slots_) slot.bound.reset();
  n_bound_ = 0;
  return std::exchange(trusts_shapes_, false) &&
         std::ranges::any_of(model_.signature().outputs(), [](const Port& port) { return port.bindable(); });
}

void Outputs::View(uint32_t index, wasinn_tensor* view) {
  const Port& port = backend::PortAt(model_.signature().outputs(), "output", index);
  Slot& slot = slots_[index];
  if (!slot.seen && !IsBound(index)) {
    FetchValues();
    if (!slot.has_value()) backend::ThrowTaken(port.name);
    Look(port, &slot);
  }
  *view = slot.view;
}

void Outputs::Take(uint32_t index, wasinn_tensor* out) {
  View(index, out);
  if (IsBound(index)) Throw(WASINN_ERROR_INVALID_ARGUMENT, "the memory of a bound output is its caller's already");
  Slot& slot = slots_[index];
  std::unique_ptr<OutputMemory> memory = std::move(slot.memory);
  memory->takes_turns = model_.takes_turns();
  Release(model_.signature().outputs()[index], &slot);
  backend::GiveAway(std::move(memory), out);
}

// All at once, as ONNX Runtime returns them.
void Outputs::FetchValues() {
  if (fetched_) return;
  const OrtLibrary& library = model_.host().library();
  const OrtApi& api = library.api();
  OrtAllocator* const allocator = library.Allocator();
  OrtValue** values = nullptr;
  size_t n = 0;
  library.Check(api.GetBoundOutputValues(binding_, allocator, &values, &n), "outputs");
  // In the order of binding, which is that of the model.
  for (size_t i = 0; i < n; ++i) {
    OrtPtr<OrtValue> value(values[i], api.ReleaseValue);
    if (i >= bound_slots_.size() || IsBound(bound_slots_[i]) || value == nullptr) continue;
    Slot& slot = slots_[bound_slots_[i]];
    if (slot.memory == nullptr) slot.memory = std::make_unique<OutputMemory>(api.ReleaseValue);
    slot.memory->value = std::move(value);
  }
  if (values != nullptr) allocator->Free(allocator, static_cast<void*>(values));
  fetched_ = true;
}

void Outputs::Look(const Port& port, Slot* slot) {
  const OrtLibrary& library = model_.host().library();
  const OrtApi& api = library.api();
  const char* const name = port.name.c_str();
  OrtValue* const value = slot->memory->value.get();
  const auto info = library.Make(name, api.ReleaseTensorTypeAndShapeInfo, api.GetTensorTypeAndShape, value);
  const auto type = library.Get<ONNXTensorElementDataType>(name, api.GetTensorElementType, info.get());
  slot->dims = library.DimsOf(info.get(), name);
  if (FromOrt(type) == WASINN_DTYPE_UNKNOWN || slot->dims.size() > WASINN_MAX_RANK) {
    backend::ThrowUnshowable(port, fmt::format("a tensor({})", OnnxName(type)), slot->dims.size());
  }
  slot->seen = true;
  slot->view = backend::ViewOf(FromOrt(type), slot->dims, library.Get<void*>(name, api.GetTensorMutableData, value));
  slot->view.memory = MemoryOf(port, *slot);
}

// NULL: the host's memory, to which ONNX Runtime copies outputs that are not kept.
const char* Outputs::MemoryOf(const Port& port, const Slot& slot) const {
  const DeviceMemory* const device = model_.device_memory();
  if (device == nullptr || !device->Has(model_.host().library(), slot.memory->value.get())) return nullptr;
  if (slot.kept) return device->name();
  Throw(WASINN_ERROR_RUNTIME, "output '{}' stayed in the memory of {}", port.name, device->name());
}

}  // namespace wasinn::onnx
