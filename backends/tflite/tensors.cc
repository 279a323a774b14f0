#include "tflite/tensors.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <span>
#include <utility>

#include "common/dtype.h"
#include "common/throw.h"
#include "tflite/strings.h"

namespace wasinn::tflite {

using backend::Throw;

namespace {

void CheckDims(const Port& port, const wasinn_tensor& tensor) {
  for (const int64_t dim : std::span(tensor.dims, tensor.rank)) {
    if (dim <= INT_MAX) continue;
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "input '{}' has a dim of {}: TensorFlow Lite counts to {}", port.name, dim,
          INT_MAX);
  }
}

}  // namespace

Inputs::Inputs(const Signature& signature, const TfLiteLibrary& library)
    : signature_(signature), library_(library), slots_(signature.inputs().size()) {
  for (Slot& slot : slots_) {
    slot.dims.reserve(WASINN_MAX_RANK);
    slot.applied_dims.reserve(WASINN_MAX_RANK);
  }
}

bool Inputs::HasDims(const Slot& slot, const Port& port, const wasinn_tensor& tensor) {
  const size_t rank = slot.dims.size();
  if (tensor.rank != rank + (port.is_strings ? 1 : 0)) return false;
  return std::ranges::equal(slot.dims, std::span(tensor.dims, rank),
                            [](int64_t own, int64_t other) { return own == other; }) &&
         (!port.is_strings || slot.width == tensor.dims[rank]);
}

void Inputs::Bind(uint32_t index, const wasinn_tensor& tensor) {
  alignas(WASINN_TENSOR_ALIGNMENT) static constinit char nothing[WASINN_TENSOR_TAIL] = {};  // for one without bytes
  if (index >= slots_.size()) backend::ThrowNoPort("input", index, slots_.size());
  Slot& slot = slots_[index];
  const bool was_set = std::exchange(slot.data, nullptr) != nullptr;
  if (reinterpret_cast<uintptr_t>(tensor.data) % WASINN_TENSOR_ALIGNMENT != 0) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "TensorFlow Lite reads in place what is aligned to 64 bytes");
  }
  const Port& port = signature_.inputs()[index];
  if (!was_set || !HasDims(slot, port, tensor)) {
    (void)backend::PortAt(signature_.inputs(), "input", index);
    CheckDims(port, tensor);
    backend::CheckTensor(port, tensor);
    if (port.is_strings) (void)backend::StringsOf(port, {tensor.dims, tensor.rank}, tensor.data);
  }
  slot.data = tensor.data == nullptr ? nothing : tensor.data;
  slot.bytes = tensor.bytes;
  slot.dims.assign(tensor.dims, tensor.dims + tensor.rank);
  if (!port.is_strings) return;
  slot.width = slot.dims.back();
  slot.dims.pop_back();
}

void Inputs::BindAllOf(const Inputs& other) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Slot& from = other.slots_[i];
    slots_[i].data = from.data;
    slots_[i].bytes = from.bytes;
    slots_[i].dims = from.dims;
    slots_[i].width = from.width;
  }
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
        Throw(WASINN_ERROR_INVALID_ARGUMENT, "input '{}' of dims [{}]: {}", port.name, fmt::join(slot.dims, ", "),
              interpreter.TakeMessages());
      }
      slot.applied_dims = slot.dims;
      slot.applied = true;
      allocate = true;
    }
    if (library_.set_custom_allocation == nullptr || port.is_strings) continue;
    if (slot.applied_data == slot.data && slot.applied_bytes == slot.bytes) continue;
    // TensorFlow Lite refuses an allocation without bytes; every buffer has some behind it.
    const TfLiteCustomAllocation allocation = {slot.data, std::max<size_t>(slot.bytes, 1)};
    if (library_.set_custom_allocation(interpreter.get(), port.tensor, &allocation, 0) != kTfLiteOk) {
      Throw(WASINN_ERROR_RUNTIME, "input '{}': {}", port.name, interpreter.TakeMessages());
    }
    slot.applied_data = slot.data;
    slot.applied_bytes = slot.bytes;
    allocate = true;
  }
  return allocate;
}

uint64_t Inputs::StringBytes() const {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    const Port& port = signature_.inputs()[i];
    if (port.is_strings) sum += InputStrings(port, slots_[i].dims, slots_[i].width, slots_[i].data).bytes();
  }
  return sum;
}

void Inputs::CopyInto(const Interpreter& interpreter) const {
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    const Port& port = signature_.inputs()[i];
    if (port.is_strings) {
      const InputStrings strings(port, slot.dims, slot.width, slot.data);
      strings.CopyInto(library_, library_.input(interpreter.get(), static_cast<int32_t>(i)));
      continue;
    }
    if (library_.set_custom_allocation != nullptr || slot.data == nullptr || slot.bytes == 0) continue;
    const TfLiteTensor* tensor = library_.input(interpreter.get(), static_cast<int32_t>(i));
    void* data = library_.tensor_data(tensor);
    if (data == nullptr || library_.tensor_byte_size(tensor) != slot.bytes) {
      Throw(WASINN_ERROR_RUNTIME, "input '{}' has no memory", port.name);
    }
    std::memcpy(data, slot.data, slot.bytes);
  }
}

Outputs::Outputs(const Signature& signature, const TfLiteLibrary& library)
    : signature_(signature), library_(library), slots_(signature.outputs().size()) {
  for (Slot& slot : slots_) slot.dims.reserve(WASINN_MAX_RANK);
}

void Outputs::Bind(uint32_t index, const wasinn_tensor& tensor) {
  const Port& port = backend::PortAt(signature_.outputs(), "output", index);
  slots_[index].bound = nullptr;
  backend::CheckBindable(port, tensor);
  slots_[index].bound = tensor.data;
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
      Throw(WASINN_ERROR_RUNTIME, "output '{}': {}", port.name, interpreter.TakeMessages());
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

// The bytes, which must not exceed the real ones even if a model has wrong sizes.
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
    Throw(WASINN_ERROR_RUNTIME, "output '{}' became a {} of {} dimensions and {} bytes: expected a {}", port.name,
          TfLiteName(library_.tensor_type(tensor)), rank, library_.tensor_byte_size(tensor), port.type_name);
  }
  return bytes;
}

uint64_t Outputs::FindCopied(const Interpreter& interpreter, const Inputs& inputs) {
  uint64_t sum = 0;
  moved_ = false;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    const Port& port = signature_.outputs()[i];
    if (!port.servable()) continue;
    const TfLiteTensor* tensor = TensorOf(interpreter, i);
    if (port.is_strings) {
      const OutputStrings strings(library_, tensor, port);
      slot.copied = strings.bytes();
      slot.is_copied = true;
      sum = backend::AddSat(sum, slot.copied);
      continue;
    }
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

// An output that is an input must not change when the input is set again.
void Outputs::MakeCopies(const Interpreter& interpreter) {
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (!slot.is_copied) continue;
    if (const Port& port = signature_.outputs()[i]; port.is_strings) {
      slot.dims = OutputStrings(library_, TensorOf(interpreter, i), port).CopyInto(&slot.copy);
      continue;
    }
    slot.copy.Assign(library_.tensor_data(TensorOf(interpreter, i)), slot.copied);
  }
}

void Outputs::Discard() {
  for (Slot& slot : slots_) {
    slot.copy = {};
    slot.is_copied = false;
  }
}

uint64_t Outputs::DynamicBytes(const Interpreter& interpreter) const {
  uint64_t sum = 0;
  for (uint32_t i = 0; library_.allocation_type != nullptr && i < slots_.size(); ++i) {
    const TfLiteTensor* tensor = TensorOf(interpreter, i);
    if (signature_.outputs()[i].is_strings) continue;
    if (library_.allocation_type(tensor) != kTfLiteDynamic || library_.tensor_data(tensor) == nullptr) continue;
    sum += library_.tensor_byte_size(tensor);
  }
  return sum;
}

uint64_t Outputs::StringBytes(const Interpreter& interpreter) const {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    if (signature_.outputs()[i].is_strings) sum += library_.tensor_byte_size(TensorOf(interpreter, i));
  }
  return sum;
}

void Outputs::View(const Interpreter& interpreter, uint32_t index, wasinn_tensor* view) {
  const Port& port = backend::PortAt(signature_.outputs(), "output", index);
  Slot& slot = slots_[index];
  if (port.is_strings) {
    *view = backend::ViewOf(WASINN_DTYPE_U8, slot.dims, slot.copy.data());
    return;
  }
  const TfLiteTensor* tensor = TensorOf(interpreter, index);
  (void)BytesOf(tensor, port);
  slot.dims.clear();
  for (int32_t d = 0; d < library_.tensor_num_dims(tensor); ++d) slot.dims.push_back(library_.tensor_dim(tensor, d));
  *view = backend::ViewOf(port.io.dtype, slot.dims, slot.is_copied ? slot.copy.data() : library_.tensor_data(tensor));
}

}  // namespace wasinn::tflite
