#include "onnx/inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>

#include "common/error.h"
#include "onnx/dtype.h"
#include "onnx/tensor.h"

namespace wasinn::onnx {

using backend::Error;

Inputs::Inputs(const Model& model, OrtIoBinding* binding) : model_(model), binding_(binding) {
  const auto& ports = model.signature().inputs();
  slots_.reserve(ports.size());
  for (const Port& port : ports) {
    slots_.push_back({.buffer = {}, .dims = {}, .value = {nullptr, model.host().api().ReleaseValue}});
    slots_.back().dims.reserve(port.dims.size());
  }
}

void Inputs::Set(uint32_t index, wasinn_tensor* tensor) {
  if (index >= slots_.size()) {
    throw Error(WASINN_INVALID_ARGUMENT, fmt::format("input {}: the model has {}", index, slots_.size()));
  }
  Slot& slot = slots_[index];
  const std::span<const int64_t> dims(tensor->dims, tensor->rank);
  if (slot.value == nullptr || !std::ranges::equal(slot.dims, dims)) Resize(index, *tensor);
  tensor->data = slot.buffer.data();
}

void Inputs::Resize(uint32_t index, const wasinn_tensor& tensor) {
  const Port& port = model_.signature().inputs()[index];
  if (!port.servable()) {
    throw Error(WASINN_UNSUPPORTED_OPERATION,
                fmt::format("input '{}' is a {}: expected a tensor of numbers", port.name, port.type_name));
  }
  const std::span<const int64_t> dims(tensor.dims, tensor.rank);
  const uint64_t bytes = TensorBytes(dims, ElementSize(static_cast<wasinn_dtype>(port.io.dtype)));
  if (tensor.dtype != port.io.dtype || tensor.bytes != bytes) {
    throw Error(WASINN_INVALID_ARGUMENT,
                fmt::format("input '{}', a {}, of dims [{}]: expected {} bytes, found {}, of dtype {}", port.name,
                            port.type_name, fmt::join(dims, ", "), bytes, tensor.bytes, tensor.dtype));
  }
  Slot& slot = slots_[index];
  // Nothing of the slot changes before all that can fail has been done.
  backend::AlignedBuffer buffer;
  if (slot.buffer.data() == nullptr || slot.buffer.capacity() < bytes) buffer = backend::AlignedBuffer(bytes);
  std::vector<int64_t> new_dims(dims.begin(), dims.end());
  auto value = MakeTensor(model_.host().library(), model_.host().environment().cpu_memory(), port.ort_type, dims,
                          buffer.data() != nullptr ? buffer : slot.buffer, bytes);
  Bind(index, value.get());
  slot.value = std::move(value);
  if (buffer.data() != nullptr) slot.buffer = std::move(buffer);
  slot.dims = std::move(new_dims);
}

void Inputs::Bind(uint32_t index, const OrtValue* value) {
  const Port& port = model_.signature().inputs()[index];
  model_.host().library().Check(model_.host().api().BindInput(binding_, port.name.c_str(), value), port.name.c_str());
}

void Inputs::BindForRun() {
  if (!model_.copies_inputs()) return;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].value != nullptr) Bind(i, slots_[i].value.get());
  }
}

}  // namespace wasinn::onnx
