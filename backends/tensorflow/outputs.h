// The outputs of a context.
#ifndef WASINN_BACKENDS_TENSORFLOW_OUTPUTS_H_
#define WASINN_BACKENDS_TENSORFLOW_OUTPUTS_H_

#include <wasinn/backend.h>

#include <vector>

#include "common/aligned_buffer.h"
#include "tensorflow/inputs.h"
#include "tensorflow/model.h"

namespace wasinn::tensorflow {

// TensorFlow's own tensors, which it makes anew in each run. An output whose memory is an input's is copied after the
// run, as that input may be set before the output is read. One thread at a time.
class Outputs {
 public:
  explicit Outputs(const Model& model);

  // Lets go of the last run's. Buffers for copies stay.
  void Release();
  // And of the memory that is kept for the next run.
  void Discard();
  // After a run: output `index` is this tensor, which is ours now; or it is this input, which stays the input's.
  void Take(size_t index, TF_Tensor* tensor, const Inputs& inputs);
  void CopyInput(size_t index, const TF_Tensor* input) { Copy(input, &slots_[index]); }
  // The bytes of them all.
  uint64_t bytes() const { return bytes_; }
  // wasinn_backend::output and take_output.
  void View(uint32_t index, wasinn_tensor* view);
  void Give(uint32_t index, wasinn_tensor* out);

 private:
  struct Slot {
    TfPtr<TF_Tensor> tensor;      // or
    backend::AlignedBuffer copy;  // a copy, if `copied`
    bool copied = false;
    bool given = false;
    int type = 0;
    size_t bytes = 0;
    std::vector<int64_t> dims;
  };

  void Look(const TF_Tensor* tensor, Slot* slot);
  void Copy(const TF_Tensor* tensor, Slot* slot);

  const Model& model_;
  std::vector<Slot> slots_;
  uint64_t bytes_ = 0;
};

}  // namespace wasinn::tensorflow

#endif  // WASINN_BACKENDS_TENSORFLOW_OUTPUTS_H_
