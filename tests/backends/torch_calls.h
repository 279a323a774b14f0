// Calls PyTorch's operators on small tensors, and looks at memory: what results share with arguments, and which arguments are written.
#pragma once

#include <torch/csrc/jit/runtime/operator.h>

#include <compare>
#include <cstddef>
#include <memory>
#include <vector>

namespace wasinn::test {

struct Seen {
  size_t op;  // of TensorOperators
  size_t argument;
  size_t of_list;  // how many tensors the argument was a list of; 0: no list
  size_t result;   // that shares its memory; or
  bool written;    // the operator wrote to it
  auto operator<=>(const Seen&) const = default;
};

// Those with a tensor among their arguments, in the order of their names; without those that write to `out`, and those of onnx, which only stand for
// what is written to a file.
std::vector<std::shared_ptr<::torch::jit::Operator>> TensorOperators();

// Each is called in many ways, in other processes, since some calls end theirs.
std::vector<Seen> CallEach(const std::vector<std::shared_ptr<::torch::jit::Operator>>& operators);

}  // namespace wasinn::test
