#include "openvino/outputs.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "common/error.h"
#include "openvino/dtype.h"

namespace wasinn::openvino {

using backend::Error;

Outputs::Outputs(const Model& model) : model_(model) {
  for (const Port& port : model.signature().outputs()) {
    const bool fixed = port.servable() && port.fixed_shape();
    slots_.push_back({.fixed = fixed,
                      .memory = nullptr,
                      .spare = fixed ? std::make_shared<OutputMemories>() : nullptr,
                      .tensor = {nullptr, model.host().api().ov_tensor_free},
                      .view = {},
                      .dims = {}});
    has_allocated_ = has_allocated_ || !fixed;
    if (!fixed) continue;
    const uint64_t bytes = TensorBytes(port.dims, ElementSize(static_cast<wasinn_dtype>(port.io.dtype)));
    if (__builtin_add_overflow(fixed_bytes_, bytes, &fixed_bytes_)) fixed_bytes_ = UINT64_MAX;
  }
}

void Outputs::UseRequest(ov_infer_request_t* request) {
  request_ = request;
  for (Slot& slot : slots_) {
    slot.bound = nullptr;
    slot.tensor.reset();
  }
}

void Outputs::BeforeRun() {
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    slot.taken = false;
    if (!slot.fixed) {
      slot.tensor.reset();
    } else if (slot.memory == nullptr || slot.bound != slot.memory.get()) {
      BindFixed(i, &slot);
    }
  }
}

OutputMemoryPtr Outputs::NewFixed(const Port& port) const {
  const uint64_t bytes = TensorBytes(port.dims, ElementSize(static_cast<wasinn_dtype>(port.io.dtype)));
  auto memory = std::make_unique<OutputMemory>(OutputMemory{.buffer = backend::AlignedBuffer(bytes),
                                                            .tensor = {nullptr, model_.host().api().ov_tensor_free},
                                                            .home = nullptr});
  // Should ever an output be left as it is, a guest must not see what was in this memory before.
  std::memset(memory->buffer.data(), 0, bytes);
  const ov_shape_t shape = {.rank = static_cast<int64_t>(port.dims.size()),
                            .dims = const_cast<int64_t*>(port.dims.data())};
  ov_tensor_t* raw = nullptr;
  const OvLibrary& library = model_.host().library();
  library.Check(library.api().ov_tensor_create_from_host_ptr(port.ov_type, shape, memory->buffer.data(), &raw),
                port.name.c_str());
  memory->tensor.reset(raw);
  return memory;
}

void Outputs::BindFixed(uint32_t index, Slot* slot) {
  const Port& port = model_.signature().outputs()[index];
  if (slot->memory == nullptr) slot->memory = slot->spare->Take();
  if (slot->memory == nullptr) {
    slot->memory = NewFixed(port);
    slot->bound = nullptr;  // whatever was at this address before
  }
  if (slot->bound != slot->memory.get()) {
    slot->bound = nullptr;
    const OvLibrary& library = model_.host().library();
    library.Check(
        library.api().ov_infer_request_set_output_tensor_by_index(request_, index, slot->memory->tensor.get()),
        port.name.c_str());
    slot->bound = slot->memory.get();
  }
  slot->view = {.struct_size = sizeof(wasinn_tensor),
                .dtype = port.io.dtype,
                .rank = static_cast<uint32_t>(port.dims.size()),
                .dims = port.dims.data(),
                .data = slot->memory->buffer.data(),
                .bytes = slot->memory->buffer.capacity(),
                .owner = nullptr,
                .release = nullptr};
}

uint64_t Outputs::AfterRun() {
  uint64_t bytes = fixed_bytes_;
  if (!has_allocated_) return bytes;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].fixed || !model_.signature().outputs()[i].servable()) continue;
    Look(i, &slots_[i]);
    bytes += slots_[i].view.bytes;
  }
  return bytes;
}

void Outputs::Look(uint32_t index, Slot* slot) {
  const Port& port = model_.signature().outputs()[index];
  const OvLibrary& library = model_.host().library();
  const OvApi& api = library.api();
  ov_tensor_t* raw = nullptr;
  library.Check(api.ov_infer_request_get_output_tensor_by_index(request_, index, &raw), port.name.c_str());
  slot->tensor.reset(raw);
  ov_element_type_e type = DYNAMIC;
  library.Check(api.ov_tensor_get_element_type(raw, &type), port.name.c_str());
  ov_shape_t shape = {};
  library.Check(api.ov_tensor_get_shape(raw, &shape), port.name.c_str());
  slot->dims.assign(shape.dims, shape.dims + shape.rank);
  api.ov_shape_free(&shape);
  if (FromOv(type) == WASINN_DTYPE_UNKNOWN || slot->dims.size() > WASINN_MAX_RANK) {
    throw Error(WASINN_UNSUPPORTED_OPERATION,
                fmt::format("output '{}' became {} of {} dimensions: expected numbers, and no more than {}", port.name,
                            OvName(type), slot->dims.size(), WASINN_MAX_RANK));
  }
  const uint64_t bytes = TensorBytes(slot->dims, ElementSize(FromOv(type)));
  void* data = nullptr;
  if (bytes > 0) library.Check(api.ov_tensor_data(raw, &data), port.name.c_str());
  slot->view = {.struct_size = sizeof(wasinn_tensor),
                .dtype = static_cast<uint32_t>(FromOv(type)),
                .rank = static_cast<uint32_t>(slot->dims.size()),
                .dims = slot->dims.data(),
                .data = data,
                .bytes = bytes,
                .owner = nullptr,
                .release = nullptr};
}

void Outputs::View(uint32_t index, wasinn_tensor* view) {
  if (index >= slots_.size()) {
    throw Error(WASINN_INVALID_ARGUMENT, fmt::format("output {}: the model has {}", index, slots_.size()));
  }
  const Port& port = model_.signature().outputs()[index];
  if (!port.servable()) {
    throw Error(WASINN_UNSUPPORTED_OPERATION,
                fmt::format("output '{}' is of type {}: expected a tensor of numbers", port.name, port.type_name));
  }
  const Slot& slot = slots_[index];
  if (slot.taken) {
    throw Error(WASINN_INVALID_ARGUMENT, fmt::format("output '{}' was taken: compute again", port.name));
  }
  *view = slot.view;
}

void Outputs::Take(uint32_t index, wasinn_tensor* out) {
  View(index, out);
  Slot& slot = slots_[index];
  OutputMemoryPtr memory = std::move(slot.memory);
  if (slot.fixed) {
    memory->home = slot.spare;
  } else {
    // OpenVINO shows its own memory, to which the request goes on writing.
    memory = std::make_unique<OutputMemory>(OutputMemory{.buffer = backend::AlignedBuffer(out->bytes),
                                                         .tensor = {nullptr, model_.host().api().ov_tensor_free},
                                                         .home = nullptr});
    if (out->bytes > 0) std::memcpy(memory->buffer.data(), out->data, out->bytes);
    out->data = memory->buffer.data();
  }
  slot.taken = true;
  out->owner = memory.release();
  out->release = [](void* owner) {
    OutputMemoryPtr self(static_cast<OutputMemory*>(owner));
    const std::shared_ptr<OutputMemories> home = std::move(self->home);
    if (home != nullptr) home->Give(std::move(self));
  };
}

}  // namespace wasinn::openvino
