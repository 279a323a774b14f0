#include "torch/signature.h"

#include <fmt/format.h>

#include <utility>

namespace wasinn::torch {

namespace {

using c10::TypeKind;

Port::Kind KindOf(const c10::TypePtr& type) {
  switch (type->kind()) {
    case TypeKind::TensorType:
      return Port::Kind::kTensor;
    case TypeKind::IntType:
      return Port::Kind::kInt;
    case TypeKind::FloatType:
    case TypeKind::NumberType:
      return Port::Kind::kFloat;
    case TypeKind::BoolType:
      return Port::Kind::kBool;
    default:
      return Port::Kind::kOther;
  }
}

wasinn_io IoOf(Port::Kind kind) {
  constexpr wasinn_dtype kScalars[] = {WASINN_DTYPE_UNKNOWN, WASINN_DTYPE_I64, WASINN_DTYPE_F64, WASINN_DTYPE_BOOL,
                                       WASINN_DTYPE_UNKNOWN};
  const bool scalar = kind != Port::Kind::kTensor && kind != Port::Kind::kOther;
  return {.struct_size = sizeof(wasinn_io),
          .dtype = static_cast<uint32_t>(kScalars[static_cast<size_t>(kind)]),
          .flags = kind == Port::Kind::kOther ? uint32_t{WASINN_IO_UNSERVABLE} : 0,
          .rank = scalar ? 0 : -1,
          .dims = nullptr,  // set by Publish, like the names
          .name = nullptr,
          .type_name = nullptr};
}

Port MakePort(std::string name, const c10::TypePtr& type, Port::Kind kind) {
  Port port;
  port.name = std::move(name);
  port.type_name = type->repr_str();
  port.kind = kind;
  port.io = IoOf(kind);
  return port;
}

bool IsListOfTensors(const c10::TypePtr& type) {
  const auto list = type->cast<c10::ListType>();
  return list != nullptr && KindOf(list->getElementType()) == Port::Kind::kTensor;
}

// NULL if it is no tuple, or has other elements than tensors and numbers.
c10::TupleTypePtr TupleOfOnes(const c10::TypePtr& type) {
  auto tuple = type->cast<c10::TupleType>();
  const auto is_other = [](const c10::TypePtr& element) { return KindOf(element) == Port::Kind::kOther; };
  return tuple == nullptr || std::ranges::any_of(tuple->elements(), is_other) ? nullptr : tuple;
}

std::string ElementName(const c10::TupleType& tuple, size_t i) {
  return tuple.schema() != nullptr ? tuple.schema()->arguments()[i].name() : std::to_string(i);
}

// False if a run may return more or fewer than the type shows.
bool AddOutputs(const std::string& path, const c10::TypePtr& type, std::deque<Port>* outputs) {
  const Port::Kind kind = KindOf(type);
  if (kind != Port::Kind::kOther) {
    outputs->push_back(MakePort(path.empty() ? "0" : path, type, kind));
    return true;
  }
  const auto tuple = type->cast<c10::TupleType>();
  if (tuple == nullptr) return false;
  for (size_t i = 0; i < tuple->elements().size(); ++i) {
    if (!AddOutputs(JoinPath(path, ElementName(*tuple, i)), tuple->elements()[i], outputs)) return false;
  }
  return true;
}

}  // namespace

std::string JoinPath(const std::string& path, const std::string& name) {
  return path.empty() ? name : fmt::format("{}.{}", path, name);
}

void Signature::AddInput(const std::string& name, const c10::TypePtr& type, Port::Kind kind, bool optional) {
  Port& port = inputs_.emplace_back(MakePort(name, type, kind));
  if (optional) port.io.flags |= WASINN_IO_OPTIONAL;
}

void Signature::AddArgument(const c10::Argument& argument, size_t list_inputs) {
  const auto maybe = argument.type()->cast<c10::OptionalType>();
  const c10::TypePtr type = maybe != nullptr ? maybe->getElementType() : argument.type();
  Argument one = {
      .first = inputs_.size(),
      .optional = argument.default_value().has_value() || maybe != nullptr || type->kind() == TypeKind::NoneType,
      .when_unset = argument.default_value().value_or(c10::IValue())};
  if (IsListOfTensors(type)) {
    one.kind = Argument::Kind::kList;
    one.n = list_inputs;
    for (size_t i = 0; i < one.n; ++i) {
      AddInput(JoinPath(argument.name(), std::to_string(i)), c10::TensorType::get(), Port::Kind::kTensor,
               one.optional || i > 0);
    }
  } else if ((one.tuple = TupleOfOnes(type)) != nullptr) {
    one.kind = Argument::Kind::kTuple;
    one.n = one.tuple->elements().size();
    for (size_t i = 0; i < one.n; ++i) {
      const c10::TypePtr& element = one.tuple->elements()[i];
      AddInput(JoinPath(argument.name(), ElementName(*one.tuple, i)), element, KindOf(element), one.optional);
    }
  } else {
    AddInput(argument.name(), argument.type(), KindOf(type), one.optional);
  }
  arguments_.push_back(std::move(one));
}

Signature::Signature(const c10::FunctionSchema& schema, size_t list_inputs) {
  const auto& arguments = schema.arguments();
  for (size_t i = 1; i < arguments.size(); ++i) AddArgument(arguments[i], list_inputs);
  // The argument's name, which may be arbitrary in a traced model: guests of other runtimes cannot know it.
  if (inputs_.size() == 1) inputs_.front().io.flags |= WASINN_IO_ANY_NAME;
  if (schema.returns().size() == 1) knows_outputs_ = AddOutputs("", schema.returns()[0].type(), &outputs_);
  if (!knows_outputs_) outputs_.clear();
  Publish(knows_outputs_);
}

Signature::Signature(std::span<const std::string> inputs, std::span<const std::string> outputs) : knows_outputs_(true) {
  const c10::TypePtr tensor = c10::TensorType::get();
  for (const std::string& name : inputs) {
    arguments_.push_back({.first = inputs_.size()});
    AddInput(name, tensor, Port::Kind::kTensor, false);
  }
  if (inputs_.size() == 1) inputs_.front().io.flags |= WASINN_IO_ANY_NAME;
  for (const std::string& name : outputs) outputs_.push_back(MakePort(name, tensor, Port::Kind::kTensor));
  Publish();
}

}  // namespace wasinn::torch
