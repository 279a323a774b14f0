// The inputs of a session.
#ifndef WASINN_BACKENDS_TFLITE_INPUTS_H_
#define WASINN_BACKENDS_TFLITE_INPUTS_H_

#include <wasinn/backend.h>

#include <cstdint>
#include <vector>

#include "common/aligned_buffer.h"
#include "tflite/interpreter.h"
#include "tflite/signature.h"

namespace wasinn::tflite {

// Each input lies in a buffer of its own, or in one that is lent, and the interpreter computes on that (a custom
// allocation). So nothing is lost when a shape changes and the interpreter allocates its tensors anew. A library
// without custom allocations gets a copy before each run. One thread at a time.
class Inputs {
 public:
  Inputs(const Signature& signature, const TfLiteLibrary& library);

  // wasinn_backend::input, bind_input and unbind_input.
  void Set(uint32_t index, wasinn_tensor* tensor);
  void Lend(uint32_t index, const wasinn_tensor& tensor);
  void Unset(uint32_t index);
  // Has what the other one has, in its place, and nothing else.
  void LendAllOf(const Inputs& other);
  // As before anything was set. Keeps the buffers of fixed shapes, which are no more than the model's own.
  void Reset();
  // That buffers of ours have.
  uint64_t bytes() const;

  // The shapes that are set, in order; none where one is not set.
  std::vector<std::vector<int>> Dims() const;
  // Whether an input has another shape than the interpreter knows.
  bool ShapesChanged() const;
  // Before a run: gives the interpreter what has changed. True: it must allocate its tensors (AllocateTensors).
  bool Apply(const Interpreter& interpreter);
  // After that has been done: where there are no custom allocations.
  void CopyInto(const Interpreter& interpreter) const;
  // The interpreter is a new one, or one whose state nobody knows.
  void Forget();

  // Whether an input lies at this place.
  bool IsAt(const void* data) const;

 private:
  struct Slot {
    backend::AlignedBuffer buffer;
    void* data = nullptr;  // that buffer's, or lent; NULL: not set
    size_t bytes = 0;
    std::vector<int> dims;
    // What the interpreter has.
    const void* applied_data = nullptr;
    size_t applied_bytes = 0;
    std::vector<int> applied_dims;
    bool applied = false;
  };

  Slot& At(uint32_t index, const wasinn_tensor& tensor);

  const Signature& signature_;
  const TfLiteLibrary& library_;
  std::vector<Slot> slots_;
};

}  // namespace wasinn::tflite

#endif  // WASINN_BACKENDS_TFLITE_INPUTS_H_
