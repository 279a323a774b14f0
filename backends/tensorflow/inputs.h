// The inputs of a context.
#ifndef WASINN_BACKENDS_TENSORFLOW_INPUTS_H_
#define WASINN_BACKENDS_TENSORFLOW_INPUTS_H_

#include <wasinn/backend.h>

#include <memory>
#include <vector>

#include "common/aligned_buffer.h"
#include "tensorflow/model.h"

namespace wasinn::tensorflow {

// Each input is a tensor over a buffer of its own, or over one that is lent; TensorFlow takes both as they are, since
// they are aligned. One thread at a time.
class Inputs {
 public:
  explicit Inputs(const Model& model);

  // wasinn_backend::input, bind_input and unbind_input.
  void Set(uint32_t index, wasinn_tensor* tensor);
  void Lend(uint32_t index, const wasinn_tensor& tensor);
  void Unset(uint32_t index) { slots_[index].current = nullptr; }
  // NULL: it is not set.
  TF_Tensor* Get(size_t index) const { return slots_[index].current; }

 private:
  // Memory of ours goes when neither we nor TensorFlow hold it.
  using Memory = std::shared_ptr<backend::AlignedBuffer>;

  struct Value {
    TfPtr<TF_Tensor> tensor;  // NULL: there is none
    const void* data = nullptr;
    std::vector<int64_t> dims;
  };
  struct Slot {
    Memory memory;
    Value own, lent;
    TF_Tensor* current = nullptr;
  };

  const Port& Check(uint32_t index, const wasinn_tensor& tensor) const;
  // `memory` NULL: somebody else's.
  void Make(const Port& port, const wasinn_tensor& tensor, void* data, const Memory& memory, Value* value) const;

  const Model& model_;
  std::vector<Slot> slots_;
};

}  // namespace wasinn::tensorflow

#endif  // WASINN_BACKENDS_TENSORFLOW_INPUTS_H_
