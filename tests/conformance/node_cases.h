// The ONNX project's tests of single operators, run directly on ONNX Runtime.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "native_ort.h"

namespace wasinn::testing {

// Why a case cannot be asked of a guest. These are the only reasons there are.
enum class Reason {
  kCannotLoad,       // ONNX Runtime refuses the model
  kCannotRun,        // ONNX Runtime fails to compute it
  kRandom,           // its result is another in each OS process
  kStrings,          // its inputs or outputs are strings
  kNoTensors,        // … sequences, maps or optionals
  kNoSuchType,       // … of types that have no form in whole bytes: 4-bit numbers
  kHarnessIsBroken,  // none at all: the test fails
};
const char* ReasonText(Reason reason);

struct LeftOut {
  Reason reason;
  std::string detail;
};

// A case that ONNX Runtime computes.
struct NodeCase {
  std::string name;
  std::vector<OnnxTensor> outputs;  // what ONNX Runtime gives
  bool as_expected = false;         // as the case itself wants them, within the ONNX project's tolerance
};

// Folder names, sorted; none if the folder with the cases is not there.
std::vector<std::string> NodeCaseNames();
// The folder with the cases.
std::string NodeCaseFolder();

std::expected<NodeCase, LeftOut> RunNodeCase(const std::string& name);

}  // namespace wasinn::testing
