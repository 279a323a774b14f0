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

void AddInput(const c10::Argument& argument, std::deque<Port>* inputs) {
  const auto optional = argument.type()->cast<c10::OptionalType>();
  const Port::Kind kind = KindOf(optional != nullptr ? optional->getElementType() : argument.type());
  Port& port = inputs->emplace_back(MakePort(argument.name(), argument.type(), kind));
  if (const auto& given = argument.default_value()) {
    port.when_unset = *given;
    port.io.flags |= WASINN_IO_OPTIONAL;
  } else if (optional != nullptr || argument.type()->kind() == TypeKind::NoneType) {
    port.io.flags |= WASINN_IO_OPTIONAL;
  }
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
    const std::string name = tuple->schema() != nullptr ? tuple->schema()->arguments()[i].name() : fmt::format("{}", i);
    if (!AddOutputs(JoinPath(path, name), tuple->elements()[i], outputs)) return false;
  }
  return true;
}

}  // namespace

std::string JoinPath(const std::string& path, const std::string& name) {
  return path.empty() ? name : fmt::format("{}.{}", path, name);
}

Signature::Signature(const c10::FunctionSchema& schema) {
  const auto& arguments = schema.arguments();
  for (size_t i = 1; i < arguments.size(); ++i) AddInput(arguments[i], &inputs_);
  // The argument's name, which may be arbitrary in a traced model: guests of other runtimes cannot know it.
  if (inputs_.size() == 1) inputs_.front().io.flags |= WASINN_IO_ANY_NAME;
  if (schema.returns().size() == 1) knows_outputs_ = AddOutputs("", schema.returns()[0].type(), &outputs_);
  if (!knows_outputs_) outputs_.clear();
  Publish(knows_outputs_);
}

}  // namespace wasinn::torch
