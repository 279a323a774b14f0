// The inputs and outputs of a model.
#ifndef WASINN_BACKENDS_TFLITE_SIGNATURE_H_
#define WASINN_BACKENDS_TFLITE_SIGNATURE_H_

#include <wasinn/backend.h>

#include <deque>
#include <string>
#include <vector>

#include "tflite/interpreter.h"
#include "tflite/model_scan.h"

namespace wasinn::tflite {

// One input or output. Its `io` points into it, so it stays where it was made.
struct Port {
  std::string name;
  std::string type_name;  // "tensor(FLOAT32)"
  int32_t tensor = -1;    // TensorFlow Lite's index
  size_t element_size = 0;
  std::vector<int64_t> dims;
  wasinn_io io = {};

  bool servable() const { return (io.flags & WASINN_IO_UNSERVABLE) == 0; }
  bool fixed_shape() const;
};

class Signature {
 public:
  // In the order of the model's main graph, by which TensorFlow Lite counts. `interpreter` has allocated its tensors.
  Signature(const Interpreter& interpreter, const ModelScan& scan);
  Signature(const Signature&) = delete;
  Signature& operator=(const Signature&) = delete;

  const std::deque<Port>& inputs() const { return inputs_; }
  const std::deque<Port>& outputs() const { return outputs_; }
  const wasinn_info* info() const { return &info_; }
  // No input's shape can change, and with it no output's.
  bool all_fixed() const { return all_fixed_; }

 private:
  void ReadInput(const Interpreter& interpreter, const ScannedPort& scanned, const TfLiteTensor* tensor);
  void ReadOutput(const Interpreter& interpreter, const ScannedPort& scanned, const TfLiteTensor* tensor);

  std::deque<Port> inputs_;
  std::deque<Port> outputs_;
  std::vector<const wasinn_io*> input_pointers_;
  std::vector<const wasinn_io*> output_pointers_;
  wasinn_info info_ = {};
  bool all_fixed_ = true;
};

}  // namespace wasinn::tflite

#endif  // WASINN_BACKENDS_TFLITE_SIGNATURE_H_
