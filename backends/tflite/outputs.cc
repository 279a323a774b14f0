#include "tflite/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "common/dtype.h"
#include "common/error.h"
#include "common/saturating.h"
#include "tflite/dtype.h"

namespace wasinn::tflite {

using backend::Error;

namespace {

bool IsOutputBindable(const Signature& signature, const TfLiteLibrary& library, const Port& port) {
  if (library.set_custom_allocation == nullptr || library.allocation_type == nullptr) return false;
  if (!signature.all_fixed() || !port.servable() || !port.fixed_shape()) return false;
  // One tensor lies in one place, whatever it is called.
  const auto same = [&port](const Port& other) { return other.tensor == port.tensor; };
  return std::ranges::none_of(signature.inputs(), same) && std::ranges::count_if(signature.outputs(), same) == 1;
}

}  // namespace

Outputs::Outputs(const Signature& signature, const TfLiteLibrary& library)
    : signature_(signature), library_(library), slots_(signature.outputs().size()) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].bindable = IsOutputBindable(signature, library, signature.outputs()[i]);
    slots_[i].dims.reserve(WASINN_MAX_RANK);
  }
}

const TfLiteTensor* Outputs::TensorOf(const Interpreter& interpreter, uint32_t index) const {
  return library_.output(interpreter.get(), static_cast<int32_t>(index));
}

bool Outputs::Apply(const Interpreter& interpreter) {
  bool allocate = false;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    slot.is_copied = false;
    slot.taken = false;
    if (!slot.bindable || slot.own != nullptr) continue;
    const Port& port = signature_.outputs()[i];
    const uint64_t bytes = backend::TensorBytes(port.dims, backend::ElementSize(port.io.dtype));
    const TfLiteAllocationType type = library_.allocation_type(TensorOf(interpreter, i));
    if ((type != kTfLiteArenaRw && type != kTfLiteCustom) || bytes == 0) {
      slot.bindable = false;  // a constant, or what only a run allocates
      continue;
    }
    OutputBufferPtr buffer = slot.spare.Take();
    if (buffer == nullptr) {
      buffer = std::make_unique<OutputBuffer>(OutputBuffer{backend::AlignedBuffer(bytes), nullptr});
      // Should ever an output be left as it is, a guest must not see what was in this memory before.
      std::memset(buffer->buffer.data(), 0, bytes);
    }
    const TfLiteCustomAllocation allocation = {buffer->buffer.data(), bytes};
    if (library_.set_custom_allocation(interpreter.get(), port.tensor, &allocation, 0) != kTfLiteOk) {
      throw Error(WASINN_RUNTIME_ERROR, fmt::format("output '{}': {}", port.name, interpreter.TakeMessages()));
    }
    slot.own = std::move(buffer);
    allocate = true;
  }
  return allocate;
}

void Outputs::Reset() {
  for (Slot& slot : slots_) {
    slot.spare = {};
    if (slot.own != nullptr) std::memset(slot.own->buffer.data(), 0, slot.own->buffer.capacity());
  }
}

void Outputs::Forget() {
  Discard();
  for (Slot& slot : slots_) slot.own.reset();
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
        WASINN_RUNTIME_ERROR,
        fmt::format("output '{}' became a {} of {} dimensions and {} bytes: expected a {}", port.name,
                    TfLiteName(library_.tensor_type(tensor)), rank, library_.tensor_byte_size(tensor), port.type_name));
  }
  return bytes;
}

uint64_t Outputs::FindPassedOn(const Interpreter& interpreter, const Inputs& inputs) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (slot.own != nullptr || !signature_.outputs()[i].servable()) continue;
    const TfLiteTensor* tensor = TensorOf(interpreter, i);
    if (!inputs.IsAt(library_.tensor_data(tensor))) continue;
    slot.copied = BytesOf(tensor, signature_.outputs()[i]);
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
    if (slot.copy == nullptr || !slot.copy->buffer.IsFor(slot.copied)) {
      slot.copy = std::make_unique<OutputBuffer>(OutputBuffer{backend::AlignedBuffer(slot.copied), nullptr});
    }
    std::memcpy(slot.copy->buffer.data(), library_.tensor_data(TensorOf(interpreter, i)), slot.copied);
  }
}

void Outputs::Discard() {
  for (Slot& slot : slots_) {
    slot.copy.reset();
    slot.is_copied = false;
  }
}

void Outputs::SetAside() {
  for (Slot& slot : slots_) {
    if (slot.bindable && slot.own == nullptr) slot.spare = {};
  }
}

uint64_t Outputs::bytes() const {
  uint64_t sum = 0;
  for (const Slot& slot : slots_) {
    if (slot.own != nullptr) sum += slot.own->buffer.capacity();
    if (slot.copy != nullptr) sum += slot.copy->buffer.capacity();
  }
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
  if (slot.taken) {
    throw Error(WASINN_INVALID_ARGUMENT, fmt::format("output '{}' was taken: compute again", port.name));
  }
  const TfLiteTensor* tensor = TensorOf(interpreter, index);
  const size_t bytes = BytesOf(tensor, port);
  slot.dims.clear();
  for (int32_t d = 0; d < library_.tensor_num_dims(tensor); ++d) slot.dims.push_back(library_.tensor_dim(tensor, d));
  *view = {.struct_size = sizeof(wasinn_tensor),
           .dtype = port.io.dtype,
           .rank = static_cast<uint32_t>(slot.dims.size()),
           .dims = slot.dims.data(),
           .data = slot.is_copied ? slot.copy->buffer.data() : library_.tensor_data(tensor),
           .bytes = bytes,
           .owner = nullptr,
           .release = nullptr};
}

void Outputs::Take(const Interpreter& interpreter, uint32_t index, wasinn_tensor* out) {
  View(interpreter, index, out);
  Slot& slot = slots_[index];
  const bool is_own = slot.own != nullptr;
  OutputBufferPtr buffer = std::move(is_own ? slot.own : slot.copy);
  if (!is_own && !slot.is_copied) {
    buffer = std::make_unique<OutputBuffer>(OutputBuffer{backend::AlignedBuffer(out->bytes), nullptr});
    if (out->bytes > 0) std::memcpy(buffer->buffer.data(), out->data, out->bytes);
  }
  slot.taken = true;
  slot.is_copied = false;
  out->data = buffer->buffer.data();
  out->owner = is_own ? slot.spare.Lend(std::move(buffer)) : buffer.release();
  out->release = backend::Spare<OutputBuffer>::Release;
}

}  // namespace wasinn::tflite
