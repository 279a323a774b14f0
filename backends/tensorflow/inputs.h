// The inputs of a context.
#pragma once

#include <wasinn/backend.h>

#include <vector>

#include "common/reservation.h"
#include "tensorflow/model.h"

namespace wasinn::tensorflow {

// Each input is a tensor over the memory that is bound, which TensorFlow takes as it is, since it is aligned. Of a model
// with state it gets a copy for each run: a variable may keep that, and would change with the input. One thread at a
// time.
class Inputs {
 public:
  Inputs(const Model& model, void* account);

  // wasinn_backend::bind_input and unbind_input.
  void Bind(uint32_t index, const wasinn_tensor& tensor);
  void Unbind(uint32_t index) { slots_[index].set = false; }
  // Around each compute.
  void MakeCopies();
  void DropCopies();
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

  const Model& model_;
  std::vector<Slot> slots_;
  backend::Reservation copies_;
};

}  // namespace wasinn::tensorflow
