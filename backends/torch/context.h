// One inference in flight.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <wasinn/backend.h>

#include <span>
#include <vector>

#include "common/context_base.h"
#include "common/reservation.h"
#include "torch/call_scope.h"
#include "torch/inputs.h"
#include "torch/model.h"
#include "torch/outputs.h"

namespace wasinn::torch {

// Cancel reaches what allocates, and each round of a loop; an operator that runs is not interrupted.
class Context : public backend::ContextBase {
 public:
  Context(const Model& model, const wasinn_slot_options& options);

  void Compute();
  void Output(uint32_t index, wasinn_tensor* view);
  void DiscardOutputs();
  void BindInput(uint32_t index, const wasinn_tensor& tensor) { inputs_.Bind(index, tensor); }
  void UnbindInput(uint32_t index) { inputs_.Unbind(index); }
  void TakeOutput(uint32_t index, wasinn_tensor* out);
  std::span<const wasinn_io* const> Outputs();

 private:
  void Run();
  void ChargeState();
  void ChargeFailed();
  // The model is what it was when it was loaded.
  void ForgetState();
  [[noreturn]] void Fail() const;

  const Model& model_;
  backend::Reservation kept_;  // for the copy of a model with state, and what it adds to it
  ::torch::jit::Module module_;
  ::torch::jit::Function& forward_;
  const std::shared_ptr<MemoryBudget> budget_;
  const CallScope::Subject subject_;
  Inputs inputs_;
  ::wasinn::torch::Outputs outputs_;
  std::vector<c10::IValue> stack_;
};

}  // namespace wasinn::torch
