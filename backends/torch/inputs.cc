#include "torch/inputs.h"

#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/dtype.h"
#include "common/error.h"
#include "torch/dtype.h"

namespace wasinn::torch {

using backend::Error;

namespace {

bool Fits(const at::Tensor& tensor, const wasinn_tensor& wanted) {
  return tensor.defined() && FromTorch(tensor.scalar_type()) == static_cast<wasinn_dtype>(wanted.dtype) &&
         std::ranges::equal(tensor.sizes(), std::span(wanted.dims, wanted.rank));
}

// Of a tensor that was checked.
at::Tensor Over(void* data, const wasinn_tensor& tensor) {
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): Check lets only such types pass
  return at::from_blob(data, at::IntArrayRef(tensor.dims, tensor.rank), at::TensorOptions(*ToTorch(tensor.dtype)));
}

template <typename T>
T ReadScalar(const at::Tensor& tensor) {
  T value;
  std::memcpy(&value, tensor.const_data_ptr(), sizeof(T));
  return value;
}

}  // namespace

Inputs::Inputs(const Model& model) : model_(model) { slots_.resize(model.signature().inputs().size()); }

void Inputs::Check(uint32_t index, const wasinn_tensor& tensor) const {
  const Port& port = model_.signature().inputs()[index];
  if (port.kind == Port::Kind::kOther) {
    throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
                fmt::format("input '{}' is a {}: expected a tensor or a number", port.name, port.type_name));
  }
  const auto type = ToTorch(tensor.dtype);
  if (!type) {
    throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
                fmt::format("input '{}': PyTorch has no dtype {}", port.name, tensor.dtype));
  }
  if (port.kind != Port::Kind::kTensor && port.io.dtype != tensor.dtype) {
    throw Error(WASINN_ERROR_INVALID_ARGUMENT, fmt::format("input '{}' is a {}: expected dtype {}, found {}", port.name,
                                                           port.type_name, port.io.dtype, tensor.dtype));
  }
  const std::span dims(tensor.dims, tensor.rank);
  const uint64_t bytes = backend::TensorBytes(dims, c10::elementSize(*type));
  const bool overflow = tensor.rank > WASINN_MAX_RANK || bytes == UINT64_MAX;
  const bool wrong_scalar = port.kind != Port::Kind::kTensor && bytes != c10::elementSize(*type);
  if (overflow || wrong_scalar || bytes != tensor.bytes) {
    throw Error(WASINN_ERROR_INVALID_ARGUMENT,
                fmt::format("input '{}', a {}: found {} bytes for dims [{}] of dtype {}", port.name, port.type_name,
                            tensor.bytes, fmt::join(dims, ", "), tensor.dtype));
  }
}

void Inputs::Bind(uint32_t index, const wasinn_tensor& tensor) {
  if (index >= slots_.size()) backend::ThrowNoPort("input", index, slots_.size());
  Slot& slot = slots_[index];
  slot.set = false;
  if (!Fits(slot.tensor, tensor) || slot.tensor.const_data_ptr() != tensor.data) {
    Check(index, tensor);
    slot.tensor = Over(tensor.data, tensor);
  }
  slot.set = true;
}

c10::IValue Inputs::ValueOf(uint32_t index) const {
  const Port& port = model_.signature().inputs()[index];
  const at::Tensor& tensor = slots_[index].tensor;
  if (!slots_[index].set) {
    if ((port.io.flags & WASINN_IO_OPTIONAL) != 0) return port.when_unset;
    backend::ThrowUnset(port);
  }
  switch (port.kind) {
    case Port::Kind::kInt:
      return ReadScalar<int64_t>(tensor);
    case Port::Kind::kFloat:
      return ReadScalar<double>(tensor);
    case Port::Kind::kBool:
      return ReadScalar<uint8_t>(tensor) != 0;
    default:
      break;
  }
  if (!model_.device().is_cpu()) return tensor.to(model_.device());
  const Effects& effects = model_.effects();
  return effects.stateful || effects.writes_input[index] ? tensor.clone() : tensor;
}

void Inputs::PushTo(std::vector<c10::IValue>* stack) const {
  for (uint32_t i = 0; i < slots_.size(); ++i) stack->push_back(ValueOf(i));
}

bool Inputs::Holds(const at::Tensor& tensor) const {
  return std::ranges::any_of(slots_, [&](const Slot& slot) { return slot.set && tensor.is_alias_of(slot.tensor); });
}

}  // namespace wasinn::torch
