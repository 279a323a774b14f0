// The outputs of a context.
#pragma once

#include <wasinn/backend.h>

#include <vector>

#include "common/aligned_buffer.h"
#include "tensorflow/model.h"

namespace wasinn::tensorflow {

// TensorFlow's own tensors, or copies, made after a run. A tensor may be a part of a much larger buffer (Slice, Split,
// Unpack), which it would keep and of which the C API does not tell: a model that may give such has copies only. Of others
// those are copied whose memory is also an input's, a constant's, a variable's or another output's. One thread at a time.
class Outputs {
 public:
  explicit Outputs(const Model& model);

  // Forgets the last run's. Memory of copies stays, for the next one.
  void Release();
  // And lets go of that.
  void Discard();
  void Discard(size_t index) { slots_[index].copy = {}; }
  // After a run. What is not kept goes as soon as there is a copy.
  void Take(size_t index, TfPtr<TF_Tensor> tensor);
  void Copy(size_t index, const TF_Tensor* tensor);
  // The bytes of them all.
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

  // The tensor, or NULL where its memory is not its own or not aligned as ours; then it is left as it was.
  TF_Tensor* Move(TF_Tensor* tensor) const;
  // What it is, but for its bytes.
  void Note(const TF_Tensor* tensor, Slot* slot);

  const Model& model_;
  std::vector<Slot> slots_;
  uint64_t bytes_ = 0;
};

}  // namespace wasinn::tensorflow
