// One inference in flight.
#pragma once

#include <wasinn/backend.h>

#include <atomic>
#include <cstdint>
#include <span>

#include "onnx/device_turn.h"
#include "onnx/inputs.h"
#include "onnx/memory_budget.h"
#include "onnx/model.h"
#include "onnx/outputs.h"

namespace wasinn::onnx {

// One thread at a time, but for Cancel.
class Context {
 public:
  Context(const Model& model, const wasinn_slot_options& options);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Of the next compute; 0: as the slot was told.
  void SetMaxBytes(uint64_t bytes) noexcept { max_bytes_ = bytes != 0 ? bytes : slot_max_bytes_; }
  // Likewise; valid until it has returned.
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
  void BeginCancellable();
  void CheckBoundOutputs() const;
  // NULL for success.
  OrtStatus* Run();
  [[noreturn]] void Fail(OrtStatus* status) const;

  const Model& model_;
  const uint64_t slot_max_bytes_;         // 0: no limit
  uint64_t max_bytes_ = slot_max_bytes_;  // of this compute
  std::span<const uint32_t> kept_;
  OrtPtr<OrtRunOptions> run_options_;
  OrtPtr<OrtIoBinding> binding_;
  Inputs inputs_;
  Outputs outputs_;
  MemoryBudget budget_;
  uint64_t charge_id_;
  std::atomic<bool> cancelled_ = false;  // the compute that runs
  bool computed_ = false;
};

}  // namespace wasinn::onnx
