// The inputs of a session.
#pragma once

#include <wasinn/backend.h>

#include <cstdint>
#include <vector>

#include "tflite/interpreter.h"
#include "tflite/signature.h"

namespace wasinn::tflite {

// The interpreter computes on the memory that is bound (a custom allocation). So nothing is lost when a shape changes
// and the interpreter allocates its tensors anew. A library without custom allocations gets a copy before each run. One
// thread at a time.
class Inputs {
 public:
  Inputs(const Signature& signature, const TfLiteLibrary& library);

  // wasinn_backend::bind_input and unbind_input.
  void Bind(uint32_t index, const wasinn_tensor& tensor);
  void Unbind(uint32_t index);
  // Has what the other one has, in its place, and nothing else.
  void BindAllOf(const Inputs& other);
  // As before anything was bound.
  void Reset();

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
    void* data = nullptr;  // NULL: not set
    size_t bytes = 0;
    std::vector<int> dims;
    // What the interpreter has.
    const void* applied_data = nullptr;
    size_t applied_bytes = 0;
    std::vector<int> applied_dims;
    bool applied = false;
  };

  const Signature& signature_;
  const TfLiteLibrary& library_;
  std::vector<Slot> slots_;
};

}  // namespace wasinn::tflite
