#include "onnx/outputs.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "common/dtype.h"
#include "common/error.h"
#include "common/saturating.h"
#include "onnx/dtype.h"
#include "onnx/tensor.h"

namespace wasinn::onnx {

using backend::Error;

Outputs::Outputs(const Model& model, OrtIoBinding* binding) : model_(model), binding_(binding) {
  for (const Port& port : model.signature().outputs()) {
    const bool fixed = port.servable() && port.fixed_shape() && !port.is_input;
    slots_.push_back({.fixed = fixed, .memory = nullptr, .spare = {}, .view = {}, .dims = {}});
    all_fixed_ = all_fixed_ && fixed;
    if (!fixed) continue;
    const uint64_t bytes = backend::TensorBytes(port.dims, backend::ElementSize(port.io.dtype));
    fixed_bytes_ = backend::AddSat(fixed_bytes_, bytes);
  }
}

void Outputs::BindForRun() {
  const auto& ports = model_.signature().outputs();
  fetched_ = moved_ = false;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].fixed) {
      Release(ports[i], &slots_[i]);
    } else if (slots_[i].memory == nullptr) {
      BindFixed(ports[i], &slots_[i]);
    }
  }
}

void Outputs::Discard() {
  const auto& ports = model_.signature().outputs();
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].fixed) continue;
    Release(ports[i], &slots_[i]);
    slots_[i].memory.reset();
  }
}

// Lets go of the value that ONNX Runtime allocated: binding the output to the device takes it out of the binding, too.
void Outputs::Release(const Port& port, Slot* slot) {
  slot->seen = false;
  if (slot->memory != nullptr) slot->memory->value.reset();
  const OrtLibrary& library = model_.host().library();
  library.Check(library.api().BindOutputToDevice(binding_, port.name.c_str(), model_.host().environment().cpu_memory()),
                port.name.c_str());
}

OutputMemoryPtr Outputs::NewMemory() const {
  return std::make_unique<OutputMemory>(
      OutputMemory{.buffer = {}, .value = {nullptr, model_.host().api().ReleaseValue}, .home = nullptr});
}

OutputMemoryPtr Outputs::NewFixed(const Port& port) const {
  const uint64_t bytes = backend::TensorBytes(port.dims, backend::ElementSize(port.io.dtype));
  OutputMemoryPtr memory = NewMemory();
  memory->buffer = backend::AlignedBuffer(bytes);
  // Should ever an output be left as it is, a guest must not see what was in this memory before.
  std::memset(memory->buffer.data(), 0, bytes);
  memory->value = MakeTensor(model_.host().library(), model_.host().environment().cpu_memory(), port.ort_type,
                             port.dims, memory->buffer.data(), bytes);
  return memory;
}

void Outputs::BindFixed(const Port& port, Slot* slot) {
  OutputMemoryPtr memory = slot->spare.Take();
  if (memory == nullptr) {
    memory = NewFixed(port);
    slot->bound = nullptr;  // whatever was at this address before
  }
  if (slot->bound != memory.get()) {
    slot->bound = nullptr;
    const OrtLibrary& library = model_.host().library();
    library.Check(library.api().BindOutput(binding_, port.name.c_str(), memory->value.get()), port.name.c_str());
    slot->bound = memory.get();
  }
  slot->memory = std::move(memory);
  moved_ = true;
  slot->seen = true;
  slot->view = {.struct_size = sizeof(wasinn_tensor),
                .dtype = port.io.dtype,
                .rank = static_cast<uint32_t>(port.dims.size()),
                .dims = port.dims.data(),
                .data = slot->memory->buffer.data(),
                .bytes = slot->memory->buffer.capacity(),
                .owner = nullptr,
                .release = nullptr};
}

void Outputs::AfterRun() {
  const auto& ports = model_.signature().outputs();
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (!ports[i].servable()) {
      Release(ports[i], &slots_[i]);
    } else if (ports[i].is_input) {
      KeepPassedOn(ports[i], &slots_[i]);
    }
  }
}

void Outputs::KeepPassedOn(const Port& port, Slot* slot) {
  FetchValues();
  if (slot->memory == nullptr || slot->memory->value == nullptr) {
    throw Error(WASINN_RUNTIME_ERROR, fmt::format("ONNX Runtime gave no value for output '{}'", port.name));
  }
  Look(port, slot);
  backend::AlignedBuffer& buffer = slot->memory->buffer;
  if (!buffer.IsFor(slot->view.bytes)) buffer = backend::AlignedBuffer(slot->view.bytes);
  if (slot->view.bytes > 0) std::memcpy(buffer.data(), slot->view.data, slot->view.bytes);
  slot->view.data = buffer.data();
}

bool Outputs::TrustNoShapes() {
  bool trusted = false;
  for (Slot& slot : slots_) {
    trusted = trusted || slot.fixed;
    slot.fixed = false;
    slot.memory.reset();
    slot.spare = {};
  }
  fixed_bytes_ = 0;
  all_fixed_ = false;
  return trusted;
}

void Outputs::View(uint32_t index, wasinn_tensor* view) {
  const Port& port = backend::PortAt(model_.signature().outputs(), "output", index);
  Slot& slot = slots_[index];
  if (!slot.seen) {
    FetchValues();
    if (slot.memory == nullptr || slot.memory->value == nullptr) {
      throw Error(WASINN_INVALID_ARGUMENT, fmt::format("output '{}' was taken: compute again", port.name));
    }
    Look(port, &slot);
  }
  *view = slot.view;
}

void Outputs::Take(uint32_t index, wasinn_tensor* out) {
  View(index, out);
  Slot& slot = slots_[index];
  OutputMemoryPtr memory = std::move(slot.memory);
  if (!slot.fixed) Release(model_.signature().outputs()[index], &slot);
  slot.seen = false;
  out->owner = slot.fixed ? slot.spare.Lend(std::move(memory)) : memory.release();
  out->release = backend::Spare<OutputMemory>::Release;
}

// All at once, since ONNX Runtime gives them so.
void Outputs::FetchValues() {
  if (fetched_) return;
  const OrtLibrary& library = model_.host().library();
  const OrtApi& api = library.api();
  OrtAllocator* allocator = nullptr;
  library.Check(api.GetAllocatorWithDefaultOptions(&allocator), "outputs");
  OrtValue** values = nullptr;
  size_t n = 0;
  library.Check(api.GetBoundOutputValues(binding_, allocator, &values, &n), "outputs");
  // In the order of binding, which is that of the model.
  for (size_t i = 0; i < n; ++i) {
    OrtPtr<OrtValue> value(values[i], api.ReleaseValue);
    if (i >= slots_.size() || slots_[i].fixed || value == nullptr) continue;
    if (slots_[i].memory == nullptr) slots_[i].memory = NewMemory();
    slots_[i].memory->value = std::move(value);
  }
  if (values != nullptr) allocator->Free(allocator, static_cast<void*>(values));
  fetched_ = true;
}

void Outputs::Look(const Port& port, Slot* slot) {
  const OrtLibrary& library = model_.host().library();
  const OrtApi& api = library.api();
  OrtTensorTypeAndShapeInfo* raw = nullptr;
  library.Check(api.GetTensorTypeAndShape(slot->memory->value.get(), &raw), port.name.c_str());
  const OrtPtr<OrtTensorTypeAndShapeInfo> info(raw, api.ReleaseTensorTypeAndShapeInfo);
  auto type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  library.Check(api.GetTensorElementType(raw, &type), port.name.c_str());
  size_t rank = 0;
  library.Check(api.GetDimensionsCount(raw, &rank), port.name.c_str());
  if (FromOrt(type) == WASINN_DTYPE_UNKNOWN || rank > WASINN_MAX_RANK) {
    throw Error(WASINN_UNSUPPORTED_OPERATION,
                fmt::format("output '{}' became a tensor({}) of {} dimensions: expected numbers, and no more than {}",
                            port.name, OnnxName(type), rank, WASINN_MAX_RANK));
  }
  slot->dims.resize(rank);
  if (rank > 0) library.Check(api.GetDimensions(raw, slot->dims.data(), rank), port.name.c_str());
  void* data = nullptr;
  library.Check(api.GetTensorMutableData(slot->memory->value.get(), &data), port.name.c_str());
  slot->seen = true;
  slot->view = {.struct_size = sizeof(wasinn_tensor),
                .dtype = static_cast<uint32_t>(FromOrt(type)),
                .rank = static_cast<uint32_t>(rank),
                .dims = slot->dims.data(),
                .data = data,
                .bytes = backend::TensorBytes(slot->dims, backend::ElementSize(FromOrt(type))),
                .owner = nullptr,
                .release = nullptr};
}

}  // namespace wasinn::onnx
