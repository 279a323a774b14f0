#include "tflite/outputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/dtype.h"
#include "common/error.h"
#include "common/saturating.h"
#include "tflite/dtype.h"

namespace wasinn::tflite {

using backend::Error;

Outputs::Outputs(const Signature& signature, const TfLiteLibrary& library)
    : signature_(signature), library_(library), slots_(signature.outputs().size()) {
  for (Slot& slot : slots_) slot.dims.reserve(WASINN_MAX_RANK);
}

const TfLiteTensor* Outputs::TensorOf(const Interpreter& interpreter, uint32_t index) const {
  return library_.output(interpreter.get(), static_cast<int32_t>(index));
}

void Outputs::Bind(uint32_t index, const wasinn_tensor& tensor) {
  const Port& port = backend::PortAt(signature_.outputs(), "output", index);
  slots_[index].bound = nullptr;
  backend::CheckBindable(port, tensor);
  slots_[index].bound = tensor.data;
}

void Outputs::BindAllOf(const Outputs& other) {
  for (size_t i = 0; i < slots_.size(); ++i) slots_[i].bound = other.slots_[i].bound;
}

bool Outputs::Apply(const Interpreter& interpreter) {
  bool allocate = false;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    slot.is_copied = false;
    const Port& port = signature_.outputs()[i];
    if (!port.bindable() || slot.elsewhere) continue;
    if (slot.bound == nullptr) backend::ThrowUnbound(port);
    if (slot.applied == slot.bound) continue;
    const TfLiteAllocationType type = library_.allocation_type(TensorOf(interpreter, i));
    if (type != kTfLiteArenaRw && type != kTfLiteCustom) {
      slot.elsewhere = true;
      continue;
    }
    const TfLiteCustomAllocation allocation = {slot.bound, port.bytes()};
    if (library_.set_custom_allocation(interpreter.get(), port.tensor, &allocation, 0) != kTfLiteOk) {
      throw Error(WASINN_ERROR_RUNTIME, fmt::format("output '{}': {}", port.name, interpreter.TakeMessages()));
    }
    slot.applied = slot.bound;
    allocate = true;
  }
  return allocate;
}

bool Outputs::has_elsewhere() const { return moved_ || std::ranges::any_of(slots_, &Slot::elsewhere); }

void Outputs::Reset() {
  for (Slot& slot : slots_) slot.bound = nullptr;
}

void Outputs::Forget() {
  Discard();
  for (Slot& slot : slots_) slot.applied = nullptr;
}

// The bytes, which a model that lies about itself must not make more than there are.
size_t Outputs::BytesOf(const TfLiteTensor* tensor, const Port& port) const {
  uint64_t bytes = backend::ElementSize(port.io.dtype);
  const int32_t rank = library_.tensor_num_dims(tensor);
  for (int32_t d = 0; d < rank; ++d) {
    const int32_t dim = library_.tensor_dim(tensor, d);
    if (dim < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes)) bytes = UINT64_MAX;
    if (bytes == UINT64_MAX) break;
  }
  const bool no_memory = bytes > 0 && library_.tensor_data(tensor) == nullptr;
  if (rank > static_cast<int32_t>(WASINN_MAX_RANK) || bytes != library_.tensor_byte_size(tensor) || no_memory ||
      static_cast<uint32_t>(FromTfLite(library_.tensor_type(tensor))) != port.io.dtype) {
    throw Error(
        WASINN_ERROR_RUNTIME,
        fmt::format("output '{}' became a {} of {} dimensions and {} bytes: expected a {}", port.name,
                    TfLiteName(library_.tensor_type(tensor)), rank, library_.tensor_byte_size(tensor), port.type_name));
  }
  return bytes;
}

uint64_t Outputs::FindPassedOn(const Interpreter& interpreter, const Inputs& inputs) {
  uint64_t sum = 0;
  moved_ = false;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    const Port& port = signature_.outputs()[i];
    if (!port.servable()) continue;
    const TfLiteTensor* tensor = TensorOf(interpreter, i);
    if (slot.applied != nullptr) {
      moved_ =
          moved_ || library_.tensor_data(tensor) != slot.applied || library_.tensor_byte_size(tensor) != port.bytes();
      continue;
    }
    if (!inputs.IsAt(library_.tensor_data(tensor))) continue;
    slot.copied = BytesOf(tensor, port);
    slot.is_copied = true;
    sum = backend::AddSat(sum, slot.copied);
  }
  return sum;
}

// An output that is an input must not change when that is set again.
void Outputs::KeepPassedOn(const Interpreter& interpreter) {
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (!slot.is_copied) continue;
    slot.copy.Assign(library_.tensor_data(TensorOf(interpreter, i)), slot.copied);
  }
}

void Outputs::Discard() {
  for (Slot& slot : slots_) {
    slot.copy = {};
    slot.is_copied = false;
  }
}

uint64_t Outputs::bytes() const {
  uint64_t sum = 0;
  for (const Slot& slot : slots_) sum += slot.copy.capacity();
  return sum;
}

uint64_t Outputs::DynamicBytes(const Interpreter& interpreter) const {
  uint64_t sum = 0;
  for (uint32_t i = 0; library_.allocation_type != nullptr && i < slots_.size(); ++i) {
    const TfLiteTensor* tensor = TensorOf(interpreter, i);
    if (library_.allocation_type(tensor) != kTfLiteDynamic || library_.tensor_data(tensor) == nullptr) continue;
    sum += library_.tensor_byte_size(tensor);
  }
  return sum;
}

void Outputs::View(const Interpreter& interpreter, uint32_t index, wasinn_tensor* view) {
  const Port& port = backend::PortAt(signature_.outputs(), "output", index);
  Slot& slot = slots_[index];
  const TfLiteTensor* tensor = TensorOf(interpreter, index);
  (void)BytesOf(tensor, port);
  slot.dims.clear();
  for (int32_t d = 0; d < library_.tensor_num_dims(tensor); ++d) slot.dims.push_back(library_.tensor_dim(tensor, d));
  *view = backend::ViewOf(port.io.dtype, slot.dims, slot.is_copied ? slot.copy.data() : library_.tensor_data(tensor));
}

}  // namespace wasinn::tflite
