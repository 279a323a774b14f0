// The inputs of a context.
#pragma once

#include <ATen/core/Tensor.h>
#include <wasinn/backend.h>

#include <span>
#include <vector>

#include "torch/model.h"

namespace wasinn::torch {

// A tensor over the memory of each input, made once for a place and a shape. One thread at a time.
class Inputs {
 public:
  explicit Inputs(const Model& model);

  // wasinn_backend::bind_input and unbind_input.
  void Bind(uint32_t index, const wasinn_tensor& tensor);
  void Unbind(uint32_t index) { slots_[index].set = false; }

  // What the model is called with, behind what is there already. It may keep or change its arguments where that does no
  // harm to the inputs.
  void PushTo(std::vector<c10::IValue>* stack) const;
  // Whether a tensor lies in the memory of an input.
  bool Holds(const at::Tensor& tensor) const;

 private:
  struct Slot {
    at::Tensor tensor;
    bool set = false;
  };

  void Check(uint32_t index, const wasinn_tensor& tensor) const;
  c10::IValue ValueOf(uint32_t index) const;

  const Model& model_;
  std::vector<Slot> slots_;
};

}  // namespace wasinn::torch
