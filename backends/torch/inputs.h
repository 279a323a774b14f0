// The inputs of a context.
#ifndef WASINN_BACKENDS_TORCH_INPUTS_H_
#define WASINN_BACKENDS_TORCH_INPUTS_H_

#include <ATen/core/Tensor.h>
#include <wasinn/backend.h>

#include <span>
#include <vector>

#include "common/aligned_buffer.h"
#include "torch/model.h"

namespace wasinn::torch {

// Each input lies in a buffer of its own, or in one that is lent; a tensor over it is made once for a place and a
// shape. One thread at a time.
class Inputs {
 public:
  explicit Inputs(const Model& model);

  // wasinn_backend::input, bind_input and unbind_input.
  void Set(uint32_t index, wasinn_tensor* tensor);
  void Lend(uint32_t index, const wasinn_tensor& tensor);
  void Unset(uint32_t index) { slots_[index].current = nullptr; }

  // What the model is called with, behind what is there already. It may keep or change its arguments where that does no
  // harm to the inputs.
  void PushTo(std::vector<c10::IValue>* stack) const;
  // Whether a tensor lies in the memory of an input.
  bool Holds(const at::Tensor& tensor) const;

 private:
  struct Slot {
    backend::AlignedBuffer buffer;
    at::Tensor own, lent;
    const at::Tensor* current = nullptr;  // which of them is set; NULL: neither
  };

  void Check(uint32_t index, const wasinn_tensor& tensor) const;
  c10::IValue ValueOf(uint32_t index) const;

  const Model& model_;
  std::vector<Slot> slots_;
};

}  // namespace wasinn::torch

#endif  // WASINN_BACKENDS_TORCH_INPUTS_H_
