// The inputs and outputs of a session.
#pragma once

#include <wasinn/backend.h>

#include <cstdint>
#include <vector>

#include "common/aligned_buffer.h"
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
  void Unbind(uint32_t index) {
    if (index >= slots_.size()) return;
    // The interpreter keeps the address, and looks at it in a run only; there is none before each input is set.
    slots_[index].data = nullptr;
  }
  // Has what the other one has, in its place, and nothing else.
  void BindAllOf(const Inputs& other);
  // As before anything was bound.
  void Reset() {
    for (Slot& slot : slots_) slot.data = nullptr;
  }

  // The shapes that are set, in order; none where one is not set.
  std::vector<std::vector<int>> Dims() const;
  // Whether an input has another shape than the interpreter knows.
  bool ShapesChanged() const {
    return std::ranges::any_of(slots_,
                               [](const Slot& slot) { return !slot.applied || slot.applied_dims != slot.dims; });
  }
  // Before a run: gives the interpreter what has changed. True: it must allocate its tensors (AllocateTensors).
  bool Apply(const Interpreter& interpreter);
  // After that has been done: where there are no custom allocations.
  void CopyInto(const Interpreter& interpreter) const;
  // The interpreter is a new one, or one whose state nobody knows.
  void Forget();

  // Whether an input lies at this place.
  bool IsAt(const void* data) const {
    return std::ranges::any_of(slots_, [data](const Slot& slot) { return slot.data != nullptr && slot.data == data; });
  }

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

// Where no shape can change, an output lies in the host's memory (a custom allocation). Others lie in TensorFlow Lite's.
// One thread at a time.
class Outputs {
 public:
  Outputs(const Signature& signature, const TfLiteLibrary& library);

  // wasinn_backend::bind_output.
  void Bind(uint32_t index, const wasinn_tensor& tensor);
  // Where the other one has them.
  void BindAllOf(const Outputs& other) {
    for (size_t i = 0; i < slots_.size(); ++i) slots_[i].bound = other.slots_[i].bound;
  }
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
  void Forget() {
    Discard();
    for (Slot& slot : slots_) slot.applied = nullptr;
  }
  // That copies have.
  uint64_t bytes() const {
    uint64_t sum = 0;
    for (const Slot& slot : slots_) sum += slot.copy.capacity();
    return sum;
  }
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

  const TfLiteTensor* TensorOf(const Interpreter& interpreter, uint32_t index) const {
    return library_.output(interpreter.get(), static_cast<int32_t>(index));
  }
  size_t BytesOf(const TfLiteTensor* tensor, const Port& port) const;

  const Signature& signature_;
  const TfLiteLibrary& library_;
  std::vector<Slot> slots_;
  bool moved_ = false;  // the last run did not keep to what the model says of its outputs
};

}  // namespace wasinn::tflite
