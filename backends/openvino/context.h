// One inference in flight.
#pragma once

#include <wasinn/backend.h>

#include "base/call_gate.h"
#include "common/context_base.h"
#include "common/reservation.h"
#include "openvino/inputs.h"
#include "openvino/model.h"
#include "openvino/outputs.h"

namespace wasinn::openvino {

// A model that was compiled for one thread in all is inferred past the state that a cancellation changes, when it is
// inferred on the caller's thread: nothing would interrupt it. On OpenVINO's own thread it can be, which costs about 12
// µs. So that is the way until an inference of the same shapes has turned out to be shorter than anybody would want to
// interrupt.
class Context : public backend::ContextBase {
 public:
  Context(const Model& model, const wasinn_slot_options& options);

  void Compute();
  void Output(uint32_t index, wasinn_tensor* view);
  void TakeOutput(uint32_t index, wasinn_tensor* out);
  void Cancel();
  void DiscardOutputs();
  void Reset();
  void BindInput(uint32_t index, const wasinn_tensor& tensor) { inputs_.Bind(index, tensor); }
  void UnbindInput(uint32_t index) { inputs_.Unbind(index); }

 private:
  // `why` the state goes, if there is one.
  void DropRequest(const char* why);
  // In a turn, where shapes are open.
  void NewRequest(const char* why);
  void DropOutputs(const char* why);
  ov_status_e Infer();
  [[noreturn]] void Fail(ov_status_e status);

  const Model& model_;
  backend::Reservation kept_;  // of the state, and of outputs that were larger, or are discarded
  Inputs inputs_;              // and outputs: behind the request, which points to their memory
  Outputs outputs_;
  Compiled::Request request_;
  base::CallGate gate_;               // of the inference: the request may go before the compute ends
  bool has_begun_ = false;            // the request has a state
  const char* lost_state_ = nullptr;  // with an earlier request: why
  bool is_short_ = false;             // the last inference, of the same shapes as the next
};

}  // namespace wasinn::openvino
