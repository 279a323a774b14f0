// One inference in flight.
#ifndef WASINN_BACKENDS_OPENVINO_CONTEXT_H_
#define WASINN_BACKENDS_OPENVINO_CONTEXT_H_

#include <wasinn/backend.h>

#include "common/cancel_gate.h"
#include "openvino/inputs.h"
#include "openvino/model.h"
#include "openvino/outputs.h"

namespace wasinn::openvino {

// One thread at a time, but for Cancel.
class Context {
 public:
  Context(const Model& model, const wasinn_context_options& options);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  void Input(uint32_t index, wasinn_tensor* tensor) { inputs_.Set(index, tensor); }
  void Compute();
  void Output(uint32_t index, wasinn_tensor* view);
  void Cancel();
  void DiscardOutputs();
  void BindInput(uint32_t index, const wasinn_tensor& tensor) { inputs_.Lend(index, tensor); }
  void UnbindInput(uint32_t index) { inputs_.Unset(index); }
  void TakeOutput(uint32_t index, wasinn_tensor* out);

 private:
  void CheckComputed() const;

  const Model& model_;
  const uint64_t max_bytes_;  // 0: no limit
  Inputs inputs_;             // and outputs: behind the request, which points to their memory
  Outputs outputs_;
  OvPtr<ov_infer_request_t> request_;
  backend::CancelGate gate_;
  bool computed_ = false;
};

}  // namespace wasinn::openvino

#endif  // WASINN_BACKENDS_OPENVINO_CONTEXT_H_
