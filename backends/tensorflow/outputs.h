// The outputs of a context.
#ifndef WASINN_BACKENDS_TENSORFLOW_OUTPUTS_H_
#define WASINN_BACKENDS_TENSORFLOW_OUTPUTS_H_

#include <wasinn/backend.h>

#include <vector>

#include "common/aligned_buffer.h"
#include "tensorflow/model.h"

namespace wasinn::tensorflow {

// Copies, made after a run. TensorFlow's own tensor may be a part of a much larger buffer (Slice, Split, Unpack), which
// it would keep and of which the C API does not tell; or its memory is an input's, a constant's or a variable's. One
// thread at a time.
class Outputs {
 public:
  explicit Outputs(const Model& model);

  // Forgets the last run's. The memory stays, for the next one.
  void Release();
  // And lets go of the memory.
  void Discard();
  void Discard(size_t index) { slots_[index].copy = {}; }
  // After a run.
  void Copy(size_t index, const TF_Tensor* tensor);
  // The bytes of them all.
  uint64_t bytes() const { return bytes_; }
  // wasinn_backend::output and take_output.
  void View(uint32_t index, wasinn_tensor* view);
  void Give(uint32_t index, wasinn_tensor* out);

 private:
  struct Slot {
    backend::AlignedBuffer copy;
    bool there = false;
    bool given = false;
    int type = 0;
    size_t bytes = 0;
    std::vector<int64_t> dims;
  };

  const Model& model_;
  std::vector<Slot> slots_;
  uint64_t bytes_ = 0;
};

}  // namespace wasinn::tensorflow

#endif  // WASINN_BACKENDS_TENSORFLOW_OUTPUTS_H_
