// The inputs and outputs of a session.
#pragma once

#include <wasinn/backend.h>

#include <cstdint>
#include <vector>

#include "common/aligned_buffer.h"
#include "tflite/interpreter.h"
#include "tflite/signature.h"

namespace wasinn::tflite {

// The interpreter computes on the bound memory (a custom allocation). So nothing is lost when a shape changes and the
// interpreter allocates its tensors again. Strings, and all inputs if the library has no custom allocations, are copied
// before each run. One thread at a time.
class Inputs {
 public:
  Inputs(const Signature& signature, const TfLiteLibrary& library);

  // wasinn_backend::bind_input and unbind_input.
  void Bind(uint32_t index, const wasinn_tensor& tensor);
  void Unbind(uint32_t index) {
    if (index >= slots_.size()) return;
    // The interpreter keeps the address, but only uses it in a run; there is none before each input is set.
    slots_[index].data = nullptr;
  }
  // Binds the inputs of the other one, and nothing else.
  void BindAllOf(const Inputs& other);
  // Returns to the state before any binding.
  void Reset() {
    for (Slot& slot : slots_) slot.data = nullptr;
  }

  // The current shapes, in order; none if one is not set.
  std::vector<std::vector<int>> Dims() const;
  // Whether an input's shape differs from the interpreter's.
  bool ShapesChanged() const {
    return std::ranges::any_of(slots_,
                               [](const Slot& slot) { return !slot.applied || slot.applied_dims != slot.dims; });
  }
  // Before a run: passes changes to the interpreter. True: it must allocate its tensors (AllocateTensors).
  bool Apply(const Interpreter& interpreter);
  // The memory of the interpreter that CopyInto takes for strings. Throws WASINN_ERROR_INVALID_ARGUMENT if a length is
  // not true.
  uint64_t StringBytes() const;
  // After Apply, with what StringBytes returned.
  void CopyInto(const Interpreter& interpreter) const;
  // The interpreter is new, or its state is unknown.
  void Forget();

  // Whether an input is at this address.
  bool IsAt(const void* data) const {
    return std::ranges::any_of(slots_, [data](const Slot& slot) { return slot.data != nullptr && slot.data == data; });
  }

 private:
  struct Slot {
    void* data = nullptr;  // NULL: not set
    size_t bytes = 0;
    std::vector<int> dims;  // of strings without the last one
    int64_t width = 0;      // of strings: the last one
    // The interpreter's current values.
    const void* applied_data = nullptr;
    size_t applied_bytes = 0;
    std::vector<int> applied_dims;
    bool applied = false;
  };

  static bool HasDims(const Slot& slot, const Port& port, const wasinn_tensor& tensor);

  const Signature& signature_;
  const TfLiteLibrary& library_;
  std::vector<Slot> slots_;
};

// If no shape can change, an output is in the host's memory (a custom allocation). Others are in TensorFlow Lite's, and
// strings are copied from there into the hosts' form. One thread at a time.
class Outputs {
 public:
  Outputs(const Signature& signature, const TfLiteLibrary& library);

  // wasinn_backend::bind_output.
  void Bind(uint32_t index, const wasinn_tensor& tensor);
  // Binds outputs to the other one's memory.
  void BindAllOf(const Outputs& other) {
    for (size_t i = 0; i < slots_.size(); ++i) slots_[i].bound = other.slots_[i].bound;
  }
  // Before a run. True: the interpreter must allocate its tensors.
  bool Apply(const Interpreter& interpreter);
  // After a successful run: finds the outputs that are inputs or strings. Returns the bytes of copies of these.
  uint64_t FindCopied(const Interpreter& interpreter, const Inputs& inputs);
  // Makes these copies.
  void MakeCopies(const Interpreter& interpreter);
  // Frees copies.
  void Discard();
  // Whether a bindable output is in TensorFlow Lite's memory nevertheless.
  bool has_elsewhere() const;
  // For another context: unbinds all.
  void Reset();
  // The interpreter is a new one.
  void Forget() {
    Discard();
    for (Slot& slot : slots_) slot.applied = nullptr;
  }
  // The bytes of copies.
  uint64_t bytes() const {
    uint64_t sum = 0;
    for (const Slot& slot : slots_) sum += slot.copy.capacity();
    return sum;
  }
  // TensorFlow Lite's own memory for outputs, until the interpreter is destroyed: without strings, and of strings.
  uint64_t DynamicBytes(const Interpreter& interpreter) const;
  uint64_t StringBytes(const Interpreter& interpreter) const;
  // wasinn_backend::output. Only after a successful run.
  void View(const Interpreter& interpreter, uint32_t index, wasinn_tensor* view);

 private:
  struct Slot {
    void* bound = nullptr;          // the host's memory; NULL: none
    const void* applied = nullptr;  // the part that the interpreter has
    bool elsewhere = false;         // it cannot be there
    backend::AlignedBuffer copy;    // for an output in an input's memory, and for strings
    size_t copied = 0;
    bool is_copied = false;     // `copy` has it, or will have it
    std::vector<int64_t> dims;  // for a view
  };

  const TfLiteTensor* TensorOf(const Interpreter& interpreter, uint32_t index) const {
    return library_.output(interpreter.get(), static_cast<int32_t>(index));
  }
  size_t BytesOf(const TfLiteTensor* tensor, const Port& port) const;

  const Signature& signature_;
  const TfLiteLibrary& library_;
  std::vector<Slot> slots_;
  bool moved_ = false;  // in the last run, outputs did not match the model's signature
};

}  // namespace wasinn::tflite
