// The ONNX project's tests of single operators, run directly on ONNX Runtime.
#pragma once

#include "support/test.h"
#include "wasinn_run.h"

namespace wasinn::testing {

struct NodeTensor {
  uint8_t type = 0;  // wasi-nn's number of the type, or of the one that stands in for it
  std::string dims;  // as wasi-nn wants them for it: "2,6", or "-" for a scalar
  Bytes bytes;
};

// A case that ONNX Runtime computes, and whose tensors a guest can hold.
struct NodeCase {
  std::string name;
  std::vector<NodeTensor> inputs;
  std::vector<Bytes> outputs;  // what ONNX Runtime gives
  bool as_expected = false;    // these are, bit for bit, what the case itself expects
};

// The folder with the cases; and their names, sorted: none if it is missing.
std::string NodeCaseFolder();
std::vector<std::string> NodeCaseNames();

// None if ONNX Runtime cannot load or run it, or a tensor of it is no dense one of elements of whole bytes.
std::optional<NodeCase> RunNodeCase(const std::string& name);

}  // namespace wasinn::testing
