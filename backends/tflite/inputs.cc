#include "tflite/inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <span>
#include <utility>

#include "common/error.h"
#include "tflite/dtype.h"

namespace wasinn::tflite {

using backend::Error;

namespace {

void CheckDims(const Port& port, const wasinn_tensor& tensor) {
  for (const int64_t dim : std::span(tensor.dims, tensor.rank)) {
    if (dim <= INT_MAX) continue;
    throw Error(WASINN_ERROR_INVALID_ARGUMENT,
                fmt::format("input '{}' has a dim of {}: TensorFlow Lite counts to {}", port.name, dim, INT_MAX));
  }
}

bool HasDims(const std::vector<int>& dims, const wasinn_tensor& tensor) {
  return std::ranges::equal(dims, std::span(tensor.dims, tensor.rank),
                            [](int64_t own, int64_t other) { return own == other; });
}

}  // namespace

Inputs::Inputs(const Signature& signature, const TfLiteLibrary& library)
    : signature_(signature), library_(library), slots_(signature.inputs().size()) {
  for (Slot& slot : slots_) {
    slot.dims.reserve(WASINN_MAX_RANK);
    slot.applied_dims.reserve(WASINN_MAX_RANK);
  }
}

void Inputs::Bind(uint32_t index, const wasinn_tensor& tensor) {
  alignas(WASINN_TENSOR_ALIGNMENT) static constinit char nothing[WASINN_TENSOR_TAIL] = {};  // for one without bytes
  if (index >= slots_.size()) backend::ThrowNoPort("input", index, slots_.size());
  Slot& slot = slots_[index];
  const bool was_set = std::exchange(slot.data, nullptr) != nullptr;
  if (reinterpret_cast<uintptr_t>(tensor.data) % WASINN_TENSOR_ALIGNMENT != 0) {
    throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION, "TensorFlow Lite reads in place what is aligned to 64 bytes");
  }
  if (!was_set || !HasDims(slot.dims, tensor)) {
    const Port& port = backend::PortAt(signature_.inputs(), "input", index);
    CheckDims(port, tensor);
    backend::CheckTensor(port, tensor);
  }
  slot.data = tensor.data == nullptr ? nothing : tensor.data;
  slot.bytes = tensor.bytes;
  slot.dims.assign(tensor.dims, tensor.dims + tensor.rank);
}

void Inputs::BindAllOf(const Inputs& other) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Slot& from = other.slots_[i];
    slots_[i].data = from.data;
    slots_[i].bytes = from.bytes;
    slots_[i].dims = from.dims;
  }
}

void Inputs::Unbind(uint32_t index) {
  if (index >= slots_.size()) return;
  // The interpreter keeps the address, and looks at it in a run only; there is none before each input is set.
  slots_[index].data = nullptr;
}

void Inputs::Reset() {
  for (Slot& slot : slots_) slot.data = nullptr;
}

void Inputs::Forget() {
  for (Slot& slot : slots_) {
    slot.applied = false;
    slot.applied_data = nullptr;
  }
}

std::vector<std::vector<int>> Inputs::Dims() const {
  std::vector<std::vector<int>> dims;
  for (const Slot& slot : slots_) {
    if (slot.data == nullptr) return {};
    dims.push_back(slot.dims);
  }
  return dims;
}

bool Inputs::ShapesChanged() const {
  return std::ranges::any_of(slots_, [](const Slot& slot) { return !slot.applied || slot.applied_dims != slot.dims; });
}

bool Inputs::Apply(const Interpreter& interpreter) {
  bool allocate = false;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    const Port& port = signature_.inputs()[i];
    if (slot.data == nullptr) {
      if (!port.servable()) continue;
      backend::ThrowUnset(port);
    }
    if (!slot.applied || slot.applied_dims != slot.dims) {
      slot.applied = false;
      slot.applied_data = nullptr;
      if (library_.resize_input(interpreter.get(), static_cast<int32_t>(i), slot.dims.data(),
                                static_cast<int32_t>(slot.dims.size())) != kTfLiteOk) {
        throw Error(WASINN_ERROR_INVALID_ARGUMENT, fmt::format("input '{}' of dims [{}]: {}", port.name,
                                                               fmt::join(slot.dims, ", "), interpreter.TakeMessages()));
      }
      slot.applied_dims = slot.dims;
      slot.applied = true;
      allocate = true;
    }
    if (library_.set_custom_allocation == nullptr) continue;
    if (slot.applied_data == slot.data && slot.applied_bytes == slot.bytes) continue;
    // TensorFlow Lite takes no allocation of no bytes; behind every buffer there are some.
    const TfLiteCustomAllocation allocation = {slot.data, std::max<size_t>(slot.bytes, 1)};
    if (library_.set_custom_allocation(interpreter.get(), port.tensor, &allocation, 0) != kTfLiteOk) {
      throw Error(WASINN_ERROR_RUNTIME, fmt::format("input '{}': {}", port.name, interpreter.TakeMessages()));
    }
    slot.applied_data = slot.data;
    slot.applied_bytes = slot.bytes;
    allocate = true;
  }
  return allocate;
}

void Inputs::CopyInto(const Interpreter& interpreter) const {
  if (library_.set_custom_allocation != nullptr) return;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.data == nullptr || slot.bytes == 0) continue;
    const TfLiteTensor* tensor = library_.input(interpreter.get(), static_cast<int32_t>(i));
    void* data = library_.tensor_data(tensor);
    if (data == nullptr || library_.tensor_byte_size(tensor) != slot.bytes) {
      throw Error(WASINN_ERROR_RUNTIME, fmt::format("input '{}' has no memory", signature_.inputs()[i].name));
    }
    std::memcpy(data, slot.data, slot.bytes);
  }
}

bool Inputs::IsAt(const void* data) const {
  return std::ranges::any_of(slots_, [data](const Slot& slot) { return slot.data != nullptr && slot.data == data; });
}

}  // namespace wasinn::tflite
