// The inputs and outputs of a model, as far as TorchScript reports them, and element types.
#pragma once

#include <ATen/core/function_schema.h>
#include <c10/core/ScalarType.h>
#include <wasinn/backend.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/ports.h"

namespace wasinn::torch {

struct DtypeRow {
  c10::ScalarType torch;
  wasinn_dtype dtype;
};

inline constexpr DtypeRow kDtypes[] = {
    {c10::ScalarType::Half, WASINN_DTYPE_F16},
    {c10::ScalarType::BFloat16, WASINN_DTYPE_BF16},
    {c10::ScalarType::Float, WASINN_DTYPE_F32},
    {c10::ScalarType::Double, WASINN_DTYPE_F64},
    {c10::ScalarType::Byte, WASINN_DTYPE_U8},
    {c10::ScalarType::Char, WASINN_DTYPE_I8},
    {c10::ScalarType::UInt16, WASINN_DTYPE_U16},
    {c10::ScalarType::Short, WASINN_DTYPE_I16},
    {c10::ScalarType::UInt32, WASINN_DTYPE_U32},
    {c10::ScalarType::Int, WASINN_DTYPE_I32},
    {c10::ScalarType::UInt64, WASINN_DTYPE_U64},
    {c10::ScalarType::Long, WASINN_DTYPE_I64},
    {c10::ScalarType::Bool, WASINN_DTYPE_BOOL},
    // One byte an element, which guests get unchanged. After Byte, so that u8 means that.
    {c10::ScalarType::Float8_e4m3fn, WASINN_DTYPE_U8},
    {c10::ScalarType::Float8_e5m2, WASINN_DTYPE_U8},
};

// WASINN_DTYPE_UNKNOWN for a type that wasinn does not have.
inline wasinn_dtype FromTorch(c10::ScalarType type) {
  const auto* row = std::ranges::find(kDtypes, type, &DtypeRow::torch);
  return row == std::end(kDtypes) ? WASINN_DTYPE_UNKNOWN : row->dtype;
}

inline std::optional<c10::ScalarType> ToTorch(uint32_t dtype) {
  const auto* row = std::ranges::find(kDtypes, dtype, &DtypeRow::dtype);
  return row == std::end(kDtypes) ? std::nullopt : std::optional(row->torch);
}

struct Port : backend::Port {
  enum class Kind { kTensor, kInt, kFloat, kBool, kOther };

  Kind kind = Kind::kTensor;
};

// An argument of the model: an input, or several, for the elements of a list or tuple.
struct Argument {
  enum class Kind { kOne, kList, kTuple };

  Kind kind = Kind::kOne;
  size_t first = 0, n = 1;  // its inputs
  bool optional = false;
  c10::IValue when_unset;   // for an optional one
  c10::TupleTypePtr tuple;  // for a tuple
};

class Signature : public backend::Ports<Port> {
 public:
  // For the method `forward`, whose first argument is the module. `list_inputs`: the most tensors of a list.
  Signature(const c10::FunctionSchema& schema, size_t list_inputs);
  // For a model that only has tensors.
  Signature(std::span<const std::string> inputs, std::span<const std::string> outputs);

  const std::vector<Argument>& arguments() const { return arguments_; }
  // False: they are only known after a run, and there are none here.
  bool knows_outputs() const { return knows_outputs_; }

 private:
  void AddArgument(const c10::Argument& argument, size_t list_inputs);
  void AddInput(const std::string& name, const c10::TypePtr& type, Port::Kind kind, bool optional);

  std::vector<Argument> arguments_;
  bool knows_outputs_ = false;
};

// A name in a path: "" and "scores": "scores"; "1" and "scores": "1.scores".
std::string JoinPath(const std::string& path, const std::string& name);

}  // namespace wasinn::torch
