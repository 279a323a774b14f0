// The inputs and outputs of a model, as far as TorchScript tells them.
#ifndef WASINN_BACKENDS_TORCH_SIGNATURE_H_
#define WASINN_BACKENDS_TORCH_SIGNATURE_H_

#include <ATen/core/function_schema.h>
#include <wasinn/backend.h>

#include <deque>
#include <string>
#include <vector>

#include "torch/dtype.h"

namespace wasinn::torch {

// One input or output. Its `io` points into it, so it stays where it was made.
struct Port {
  enum class Kind { kTensor, kInt, kFloat, kBool, kOther };

  std::string name;
  std::string type_name;  // "Tensor", "Optional[int]"
  Kind kind = Kind::kTensor;
  c10::IValue when_unset;  // of an optional input
  wasinn_io io = {};
};

class Signature {
 public:
  // Of the method `forward`, whose first argument is the module.
  explicit Signature(const c10::FunctionSchema& schema);
  Signature(const Signature&) = delete;
  Signature& operator=(const Signature&) = delete;

  const std::deque<Port>& inputs() const { return inputs_; }
  // Empty where only a run tells them.
  const std::deque<Port>& outputs() const { return outputs_; }
  bool knows_outputs() const { return knows_outputs_; }
  const wasinn_info* info() const { return &info_; }

 private:
  std::deque<Port> inputs_, outputs_;
  std::vector<const wasinn_io*> input_pointers_, output_pointers_;
  bool knows_outputs_ = false;
  wasinn_info info_ = {};
};

// A name in a path: "" and "scores": "scores"; "1" and "scores": "1.scores".
std::string JoinPath(const std::string& path, const std::string& name);

}  // namespace wasinn::torch

#endif  // WASINN_BACKENDS_TORCH_SIGNATURE_H_
