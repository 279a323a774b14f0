// The outputs of a session.
#pragma once

#include <wasinn/backend.h>

#include <cstdint>
#include <vector>

#include "common/aligned_buffer.h"
#include "tflite/inputs.h"
#include "tflite/interpreter.h"
#include "tflite/signature.h"

namespace wasinn::tflite {

// Where no shape can change, an output lies in the host's memory (a custom allocation). Others lie in TensorFlow Lite's.
// One thread at a time.
class Outputs {
 public:
  Outputs(const Signature& signature, const TfLiteLibrary& library);

  // wasinn_backend::bind_output.
  void Bind(uint32_t index, const wasinn_tensor& tensor);
  // Where the other one has them.
  void BindAllOf(const Outputs& other);
  // Before a run. True: the interpreter must allocate its tensors.
  bool Apply(const Interpreter& interpreter);
  // After a run that succeeded: finds where outputs are. Returns the bytes of copies of those that are inputs.
  uint64_t FindPassedOn(const Interpreter& interpreter, const Inputs& inputs);
  // Makes these copies.
  void KeepPassedOn(const Interpreter& interpreter);
  // Lets go of copies.
  void Discard();
  // Whether one that is bindable lies in TensorFlow Lite's memory all the same.
  bool has_elsewhere() const;
  // For another context: none is bound.
  void Reset();
  // The interpreter is a new one.
  void Forget();
  // That copies have.
  uint64_t bytes() const;
  // What TensorFlow Lite holds for outputs in memory of its own, until the interpreter goes.
  uint64_t DynamicBytes(const Interpreter& interpreter) const;
  // wasinn_backend::output. Only after a run that succeeded.
  void View(const Interpreter& interpreter, uint32_t index, wasinn_tensor* view);

 private:
  struct Slot {
    void* bound = nullptr;          // the host's memory; NULL: none
    const void* applied = nullptr;  // which of it the interpreter has
    bool elsewhere = false;         // it cannot lie there
    backend::AlignedBuffer copy;    // of an output that lies in an input
    size_t copied = 0;
    bool is_copied = false;     // `copy` has it, or will have it
    std::vector<int64_t> dims;  // that a view points to
  };

  const TfLiteTensor* TensorOf(const Interpreter& interpreter, uint32_t index) const;
  size_t BytesOf(const TfLiteTensor* tensor, const Port& port) const;

  const Signature& signature_;
  const TfLiteLibrary& library_;
  std::vector<Slot> slots_;
  bool moved_ = false;  // the last run did not keep to what the model says of its outputs
};

}  // namespace wasinn::tflite
