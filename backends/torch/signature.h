// The inputs and outputs of a model, as far as TorchScript tells them.
#pragma once

#include <ATen/core/function_schema.h>
#include <wasinn/backend.h>

#include <string>

#include "common/ports.h"
#include "torch/dtype.h"

namespace wasinn::torch {

struct Port : backend::Port {
  enum class Kind { kTensor, kInt, kFloat, kBool, kOther };

  Kind kind = Kind::kTensor;
  c10::IValue when_unset;  // of an optional input
};

class Signature : public backend::Ports<Port> {
 public:
  // Of the method `forward`, whose first argument is the module.
  explicit Signature(const c10::FunctionSchema& schema);
  // Or only a run tells them, and there are none here.
  bool knows_outputs() const { return knows_outputs_; }

 private:
  bool knows_outputs_ = false;
};

// A name in a path: "" and "scores": "scores"; "1" and "scores": "1.scores".
std::string JoinPath(const std::string& path, const std::string& name);

}  // namespace wasinn::torch
