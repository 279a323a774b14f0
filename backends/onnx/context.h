// One inference in flight.
#pragma once

#include <wasinn/backend.h>

#include <cstdint>
#include <span>

#include "common/context_base.h"
#include "onnx/device_turn.h"
#include "onnx/inputs.h"
#include "onnx/memory_budget.h"
#include "onnx/model.h"
#include "onnx/outputs.h"

namespace wasinn::onnx {

class Context : public backend::ContextBase {
 public:
  Context(const Model& model, const wasinn_slot_options& options);
  ~Context();

  // Of the next compute; valid until it has returned.
  void SetKept(std::span<const uint32_t> kept) noexcept { kept_ = kept; }
  void Compute();
  void Output(uint32_t index, wasinn_tensor* view);
  bool has_outputs_elsewhere() const { return !outputs_.trusts_shapes(); }
  void Cancel();
  void DiscardOutputs();
  void BindInput(uint32_t index, const wasinn_tensor& tensor) { inputs_.Bind(index, tensor); }
  void UnbindInput(uint32_t index) { inputs_.Unbind(index); }
  void BindOutput(uint32_t index, const wasinn_tensor& tensor);
  void TakeOutput(uint32_t index, wasinn_tensor* out);

 private:
  void ComputeInTurn();
  void ComputeNow();
  void Begin();
  void CheckBoundOutputs() const;
  // NULL for success.
  OrtStatus* Run();
  [[noreturn]] void Fail(OrtStatus* status) const;

  const Model& model_;
  std::span<const uint32_t> kept_;
  OrtPtr<OrtRunOptions> run_options_;
  OrtPtr<OrtIoBinding> binding_;
  Inputs inputs_;
  Outputs outputs_;
  MemoryBudget budget_;
  uint64_t charge_id_;
};

}  // namespace wasinn::onnx
