#include "torch/tensors.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "common/dtype.h"
#include "common/throw.h"
#include "torch/call_scope.h"
#include "torch/signature.h"

namespace wasinn::torch {

using backend::Throw;

namespace {

bool Fits(const at::Tensor& tensor, const wasinn_tensor& wanted) {
  return tensor.defined() && FromTorch(tensor.scalar_type()) == static_cast<wasinn_dtype>(wanted.dtype) &&
         std::ranges::equal(tensor.sizes(), std::span(wanted.dims, wanted.rank));
}

// For a tensor that was checked.
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

constexpr size_t kMaxOutputs = 65536;
constexpr int kDeepestResult = 32;

// Whether wasinn can show it, now or after a copy.
bool IsShowable(const at::Tensor& tensor) {
  return tensor.defined() && tensor.layout() == c10::kStrided && !tensor.is_meta() && !tensor._is_zerotensor() &&
         tensor.dim() <= WASINN_MAX_RANK;
}

std::string TypeName(const at::Tensor& tensor) {
  return fmt::format("Tensor({})", tensor.defined() ? c10::toString(tensor.scalar_type()) : "undefined");
}

wasinn_tensor Describe(const at::Tensor& tensor) {
  return backend::ViewOf(FromTorch(tensor.scalar_type()), tensor.sizes(), tensor.const_data_ptr());
}

// Whether its memory is a part of a larger one: a view would keep all of it, and only the view is counted.
bool IsPart(const at::Tensor& tensor) {
  const c10::Storage& storage = tensor.storage();
  return AllocatedBytes(storage.data_ptr()).value_or(storage.nbytes()) > tensor.nbytes();
}

}  // namespace

Inputs::Inputs(const Model& model) : model_(model) { slots_.resize(model.signature().inputs().size()); }

void Inputs::Check(uint32_t index, const wasinn_tensor& tensor) const {
  const Port& port = model_.signature().inputs()[index];
  if (port.kind == Port::Kind::kOther) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
          "input '{}' is a {}: expected a tensor, a number, a list of tensors or a tuple", port.name, port.type_name);
  }
  const auto type = ToTorch(tensor.dtype);
  if (!type) Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "input '{}': PyTorch has no dtype {}", port.name, tensor.dtype);
  if (port.kind != Port::Kind::kTensor && port.io.dtype != tensor.dtype) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "input '{}' is a {}: expected dtype {}, found {}", port.name, port.type_name,
          port.io.dtype, tensor.dtype);
  }
  const std::span dims(tensor.dims, tensor.rank);
  const uint64_t bytes = backend::TensorBytes(dims, c10::elementSize(*type));
  const bool overflow = tensor.rank > WASINN_MAX_RANK || bytes == UINT64_MAX;
  const bool wrong_scalar = port.kind != Port::Kind::kTensor && bytes != c10::elementSize(*type);
  if (overflow || wrong_scalar || bytes != tensor.bytes) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "input '{}', a {}: found {} bytes for dims [{}] of dtype {}", port.name,
          port.type_name, tensor.bytes, fmt::join(dims, ", "), tensor.dtype);
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

c10::IValue Inputs::ArgumentOf(size_t index) const {
  const Argument& argument = model_.signature().arguments()[index];
  const auto slots = std::span(slots_).subspan(argument.first, argument.n);
  if (argument.optional && std::ranges::none_of(slots, &Slot::set)) return argument.when_unset;
  const Effects& effects = model_.effects();
  const bool copy = effects.stateful || effects.writes_input[index];
  if (argument.kind == Argument::Kind::kOne) return ValueOf(argument.first, copy);
  if (argument.kind == Argument::Kind::kList) return ListOf(argument, copy);
  std::vector<c10::IValue> elements;
  for (size_t i = 0; i < argument.n; ++i) elements.push_back(ValueOf(argument.first + i, copy));
  return c10::ivalue::Tuple::createNamed(std::move(elements), argument.tuple);
}

// Up to the last one that is set.
c10::IValue Inputs::ListOf(const Argument& argument, bool copy) const {
  size_t n = argument.n;
  while (n > 1 && !slots_[argument.first + n - 1].set) --n;
  c10::List<at::Tensor> list;
  list.reserve(n);
  for (size_t i = 0; i < n; ++i) list.push_back(ValueOf(argument.first + i, copy).toTensor());
  return list;
}

c10::IValue Inputs::ValueOf(size_t index, bool copy) const {
  const Port& port = model_.signature().inputs()[index];
  const at::Tensor& tensor = slots_[index].tensor;
  if (!slots_[index].set) backend::ThrowUnset(port);
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
  return copy ? tensor.clone() : tensor;
}

Outputs::Slot* Outputs::Next(const std::string& path) {
  if (n_ == kMaxOutputs) Throw(WASINN_ERROR_TOO_LARGE, "the model gives more than {} outputs", kMaxOutputs);
  if (n_ == slots_.size()) slots_.emplace_back();
  Slot* slot = &slots_[n_++];
  slot->name = path.empty() ? "0" : path;
  slot->servable = false;
  return slot;
}

void Outputs::Add(const std::string& path, const c10::IValue& value, int depth) {
  if (depth > kDeepestResult) {
    Throw(WASINN_ERROR_TOO_LARGE, "the model's result is nested more than {} deep", kDeepestResult);
  }
  if (value.isNone()) return;
  if (value.isTensor()) return AddTensor(path, value.toTensor());
  if (value.isInt()) return AddTensor(path, at::scalar_tensor(value.toInt(), c10::kLong));
  if (value.isDouble()) return AddTensor(path, at::scalar_tensor(value.toDouble(), c10::kDouble));
  if (value.isBool()) return AddTensor(path, at::scalar_tensor(value.toBool(), c10::kBool));
  if (value.isIntList()) return AddTensor(path, at::tensor(value.toIntVector(), c10::kLong));
  if (value.isDoubleList()) return AddTensor(path, at::tensor(value.toDoubleVector(), c10::kDouble));
  if (value.isTuple() || value.isList() || value.isGenericDict()) return AddContainer(path, value, depth);
  Next(path)->type_name = value.tagKind();
}

void Outputs::AddContainer(const std::string& path, const c10::IValue& value, int depth) {
  if (value.isTuple()) {
    const auto& tuple = value.toTupleRef();
    const auto type = tuple.type();
    for (size_t i = 0; i < tuple.elements().size(); ++i) {
      const std::string name = type->schema() != nullptr ? type->schema()->arguments()[i].name() : std::to_string(i);
      Add(JoinPath(path, name), tuple.elements()[i], depth + 1);
    }
  } else if (value.isList()) {
    const auto elements = value.toListRef();
    for (size_t i = 0; i < elements.size(); ++i) Add(JoinPath(path, std::to_string(i)), elements[i], depth + 1);
  } else {
    for (const auto& entry : value.toGenericDict()) {
      const std::string name = entry.key().isString() ? entry.key().toStringRef()
                               : entry.key().isInt()  ? std::to_string(entry.key().toInt())
                                                      : std::to_string(n_);
      Add(JoinPath(path, name), entry.value(), depth + 1);
    }
  }
}

void Outputs::AddTensor(const std::string& path, const at::Tensor& tensor) {
  Slot* slot = Next(path);
  if (!IsShowable(tensor)) {
    slot->type_name = TypeName(tensor);
    return;
  }
  at::Tensor shown = tensor.is_quantized() ? tensor.int_repr() : tensor;
  if (!shown.device().is_cpu()) shown = shown.cpu();
  shown = shown.resolve_conj().resolve_neg().contiguous();
  // The input may change before the output is read.
  if (inputs_.Holds(shown) || IsPart(shown)) shown = shown.clone();
  slot->servable = FromTorch(shown.scalar_type()) != WASINN_DTYPE_UNKNOWN;
  if (!slot->servable) {
    slot->type_name = TypeName(shown);
    return;
  }
  slot->tensor = std::move(shown);
}

const Outputs::Slot& Outputs::Servable(uint32_t index) const {
  if (index >= n_) Throw(WASINN_ERROR_INVALID_ARGUMENT, "output {}: the model gave {}", index, n_);
  const Slot& slot = slots_[index];
  if (!slot.servable) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "output '{}' is a {}: expected a dense tensor of numbers", slot.name,
          slot.type_name);
  }
  if (!slot.tensor.defined()) backend::ThrowTaken(slot.name);
  return slot;
}

uint64_t Outputs::OwnBytes() const {
  uint64_t bytes = 0;
  for (size_t i = 0; i < n_; ++i) {
    const at::Tensor& tensor = slots_[i].tensor;
    if (!tensor.defined() || tensor.use_count() > 1 || tensor.storage().use_count() > 1) continue;
    bytes += AllocatedBytes(tensor.storage().data_ptr()).value_or(0);
  }
  return bytes;
}

void Outputs::View(uint32_t index, wasinn_tensor* view) const { *view = Describe(Servable(index).tensor); }

void Outputs::Take(uint32_t index, wasinn_tensor* out) {
  Servable(index);
  at::Tensor tensor = std::move(slots_[index].tensor);
  slots_[index].tensor.reset();
  // If the model or another output has it, too, it may change, or be taken as well.
  if (tensor.use_count() > 1 || tensor.storage().use_count() > 1) tensor = tensor.clone();
  Uncharge(tensor.storage().data_ptr());
  *out = Describe(tensor);
  backend::GiveAway(std::make_unique<at::Tensor>(std::move(tensor)), out);
}

std::span<const wasinn_io* const> Outputs::Ios() {
  ios_.clear();
  for (size_t i = 0; i < n_; ++i) {
    Slot& slot = slots_[i];
    const bool there = slot.tensor.defined();
    slot.io = {.struct_size = sizeof(wasinn_io),
               .dtype = static_cast<uint32_t>(there ? FromTorch(slot.tensor.scalar_type()) : WASINN_DTYPE_UNKNOWN),
               .flags = slot.servable ? 0 : uint32_t{WASINN_IO_UNSERVABLE},
               .rank = there ? static_cast<int32_t>(slot.tensor.dim()) : -1,
               .dims = there ? slot.tensor.sizes().data() : nullptr,
               .name = slot.name.c_str(),
               .type_name = slot.servable ? "Tensor" : slot.type_name.c_str()};
    ios_.push_back(&slot.io);
  }
  return ios_;
}

}  // namespace wasinn::torch
