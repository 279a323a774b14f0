// A framework called directly, as any program calls it: what guests' results are compared with. One program for each
// framework, so that they stay out of each other's way.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backends/test_host.h"

namespace wasinn::testing {

using Names = std::vector<std::string>;

// Outputs for inputs.
using Infer = std::function<std::vector<test::Tensor>(const std::vector<test::Tensor>&)>;

// An output with its bytes alone, for only they are compared.
inline test::Tensor OfBytes(const void* data, size_t bytes) {
  test::Tensor tensor;
  if (bytes > 0) tensor.bytes.assign(static_cast<const char*>(data), bytes);
  return tensor;
}

// Computes the model's outputs from its inputs; throws the framework's error. A framework that goes by names uses
// these, which are its own; others give all outputs in the model's order.
Infer OpenModel(const std::string& path, const Names& inputs, const Names& outputs);

}  // namespace wasinn::testing
