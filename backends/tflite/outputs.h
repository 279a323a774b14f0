// The outputs of a session.
#ifndef WASINN_BACKENDS_TFLITE_OUTPUTS_H_
#define WASINN_BACKENDS_TFLITE_OUTPUTS_H_

#include <wasinn/backend.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "common/aligned_buffer.h"
#include "common/spare.h"
#include "tflite/inputs.h"
#include "tflite/interpreter.h"
#include "tflite/signature.h"

namespace wasinn::tflite {

// What an output lies in, or was copied to.
struct OutputBuffer {
  backend::AlignedBuffer buffer;
  // While somebody has taken it: where it goes back to; NULL: nowhere.
  std::shared_ptr<backend::Spare<OutputBuffer>::Home> home;
};
using OutputBufferPtr = std::unique_ptr<OutputBuffer>;

// Where no shape can change, an output lies in a buffer of ours (a custom allocation), which can be taken away. Others
// lie in TensorFlow Lite's memory, and what is taken of them is a copy. One thread at a time.
class Outputs {
 public:
  Outputs(const Signature& signature, const TfLiteLibrary& library);

  // Before a run. True: the interpreter must allocate its tensors.
  bool Apply(const Interpreter& interpreter);
  // After a run that succeeded: finds outputs that are inputs, as often as the model says so. Returns the bytes of their copies.
  uint64_t FindPassedOn(const Interpreter& interpreter, const Inputs& inputs);
  // Makes these copies.
  void KeepPassedOn(const Interpreter& interpreter);
  // Lets go of copies.
  void Discard();
  // Another session's outputs are those of the context from now on: what was taken of these does not come back.
  void SetAside();
  // For another guest: nothing of the last one is left in buffers of ours, nor comes back to them.
  void Reset();
  // Lets go of all buffers, of which the interpreter must not be asked before the next Apply, or is a new one.
  void Forget();
  // That buffers of ours have.
  uint64_t bytes() const;
  // What TensorFlow Lite holds for outputs in memory of its own, until the interpreter goes.
  uint64_t DynamicBytes(const Interpreter& interpreter) const;
  // wasinn_backend::output and take_output. Only after a run that succeeded.
  void View(const Interpreter& interpreter, uint32_t index, wasinn_tensor* view);
  void Take(const Interpreter& interpreter, uint32_t index, wasinn_tensor* out);

 private:
  struct Slot {
    OutputBufferPtr own;   // that TensorFlow Lite writes to; NULL: it was taken, or there is none
    OutputBufferPtr copy;  // of an output that lies in an input
    size_t copied = 0;
    bool bindable = false;   // it may lie in `own`
    bool is_copied = false;  // `copy` has it, or will have it
    bool taken = false;
    std::vector<int64_t> dims;           // that a view points to
    backend::Spare<OutputBuffer> spare;  // what was taken and came back
  };

  const TfLiteTensor* TensorOf(const Interpreter& interpreter, uint32_t index) const;
  size_t BytesOf(const TfLiteTensor* tensor, const Port& port) const;

  const Signature& signature_;
  const TfLiteLibrary& library_;
  std::vector<Slot> slots_;
};

}  // namespace wasinn::tflite

#endif  // WASINN_BACKENDS_TFLITE_OUTPUTS_H_
