// The inputs and outputs of a context.
#pragma once

#include <wasinn/backend.h>

#include <vector>

#include "common/aligned_buffer.h"
#include "common/reservation.h"
#include "tensorflow/model.h"

namespace wasinn::tensorflow {

// Each input is a tensor over the bound memory, which TensorFlow accepts, since it is aligned. A model with state gets
// a copy for each run: a variable may keep it, and would change with the input. Strings are copied, too, because
// TensorFlow has another form of them. One thread at a time.
class Inputs {
 public:
  Inputs(const Model& model, void* account);

  // wasinn_backend::bind_input and unbind_input.
  void Bind(uint32_t index, const wasinn_tensor& tensor);
  void Unbind(uint32_t index) { slots_[index].set = false; }
  // Before and after each compute.
  void MakeCopies();
  // TensorFlow's references to them stay valid.
  void DropCopies() {
    if (!makes_copies_) return;
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (IsCopied(i)) slots_[i].tensor.reset();
    }
    copies_.Resize(0);
  }
  // NULL: it is not set.
  TF_Tensor* Get(size_t index) const { return slots_[index].set ? slots_[index].tensor.get() : nullptr; }

 private:
  struct Slot {
    TfPtr<TF_Tensor> tensor;  // NULL: there is none
    const void* data = nullptr;
    size_t bytes = 0;
    std::vector<int64_t> dims;
    bool set = false;
  };

  TfPtr<TF_Tensor> Over(const Port& port, const Slot& slot) const;
  TfPtr<TF_Tensor> CopyOf(const Port& port, const Slot& slot) const;
  TfPtr<TF_Tensor> StringsOf(const Port& port, const Slot& slot) const;
  bool IsCopied(size_t index) const {
    return !model_.forgets_inputs() || model_.signature().inputs()[index].is_strings;
  }

  const Model& model_;
  std::vector<Slot> slots_;
  bool makes_copies_ = false;
  backend::Reservation copies_;
};

// TensorFlow's own tensors, or copies, made after a run. A tensor may be a part of a much larger buffer (Slice, Split,
// Unpack), which it would keep and the C API does not report: a model that may have such outputs only has copies. For
// others, an output is copied if its memory is also an input's, a constant's, a variable's or another output's. Strings
// are copied into the hosts' form. One thread at a time.
class Outputs {
 public:
  explicit Outputs(const Model& model);

  // Forgets the last run's outputs. The memory of copies stays, for the next run.
  void Release();
  // Also frees that memory.
  void Discard() {
    Release();
    for (Slot& slot : slots_) slot.copy = {};
  }
  void Discard(size_t index) { slots_[index].copy = {}; }
  // Call it after a run. A tensor that is not kept is freed as soon as there is a copy.
  void Take(size_t index, TfPtr<TF_Tensor> tensor);
  void Copy(size_t index, const TF_Tensor* tensor);
  // The bytes of a tensor here; UINT64_MAX: too many to count.
  uint64_t BytesOf(size_t index, const TF_Tensor* tensor) const;
  // The bytes of all outputs.
  uint64_t bytes() const { return bytes_; }
  // wasinn_backend::output and take_output.
  void View(uint32_t index, wasinn_tensor* view);
  void Give(uint32_t index, wasinn_tensor* out);

 private:
  struct Slot {
    TfPtr<TF_Tensor> tensor;  // NULL: it is in `copy`
    backend::AlignedBuffer copy;
    bool there = false;
    bool given = false;
    int type = 0;
    size_t bytes = 0;
    std::vector<int64_t> dims;
  };

  // The tensor, or NULL if its memory is shared or not aligned as required; then it is unchanged.
  TF_Tensor* Move(TF_Tensor* tensor) const;
  bool IsStrings(const TF_Tensor* tensor) const;
  void CopyStrings(size_t index, const TF_Tensor* tensor);
  // Records its properties, except for its bytes.
  void Note(const TF_Tensor* tensor, Slot* slot);

  const Model& model_;
  std::vector<Slot> slots_;
  uint64_t bytes_ = 0;
};

}  // namespace wasinn::tensorflow
