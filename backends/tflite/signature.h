// The inputs and outputs of a model.
#pragma once

#include <wasinn/backend.h>

#include "common/ports.h"
#include "tflite/interpreter.h"
#include "tflite/model_scan.h"

namespace wasinn::tflite {

struct Port : backend::Port {
  int32_t tensor = -1;    // TensorFlow Lite's index
  bool in_arena = false;  // no constant, nor allocated by a run
};

class Signature : public backend::Ports<Port> {
 public:
  // In the order of the model's main graph, by which TensorFlow Lite counts. `interpreter` has allocated its tensors.
  Signature(const Interpreter& interpreter, const ModelScan& scan);
  // No input's shape can change, and with it no output's.
  bool all_fixed() const { return all_fixed_; }

 private:
  void ReadInput(const Interpreter& interpreter, const ScannedPort& scanned, const TfLiteTensor* tensor);
  void ReadOutput(const Interpreter& interpreter, const ScannedPort& scanned, const TfLiteTensor* tensor);

  bool IsBindable(const Port& port, const TfLiteLibrary& library) const;

  bool all_fixed_ = true;
};

}  // namespace wasinn::tflite
