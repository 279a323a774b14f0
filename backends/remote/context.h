// One inference in flight.
#ifndef WASINN_BACKENDS_REMOTE_CONTEXT_H_
#define WASINN_BACKENDS_REMOTE_CONTEXT_H_

#include <wasinn/backend.h>

#include <cstdint>
#include <memory>
#include <span>

#include "common/cancel_gate.h"
#include "common/reservation.h"
#include "remote/call.h"
#include "remote/inputs.h"
#include "remote/model.h"
#include "remote/outputs.h"
#include "remote/request.h"

namespace wasinn::remote {

// One thread at a time; Cancel from any.
class Context {
 public:
  Context(Model& model, const wasinn_slot_options& options);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  void BindInput(uint32_t index, const wasinn_tensor& tensor) { inputs_.Bind(index, tensor); }
  void UnbindInput(uint32_t index) { inputs_.Unbind(index); }
  void BindOutput(uint32_t index, const wasinn_tensor& tensor) { outputs_.Bind(index, tensor); }
  // Of the next compute; 0: none, or the slot's.
  void SetDeadline(uint64_t milliseconds) { deadline_ms_ = milliseconds; }
  void SetMaxBytes(uint64_t bytes) { max_bytes_ = bytes == 0 ? slot_max_bytes_ : bytes; }
  void Compute(std::span<const uint32_t> wanted);
  void Cancel();
  void Output(uint32_t index, wasinn_tensor* view);
  void TakeOutput(uint32_t index, wasinn_tensor* out);
  void DiscardOutputs();
  std::span<const wasinn_io* const> Outputs();

 private:
  Answered Ask(const InferRequest& request);
  void RequireOutputs() const;

  Model& model_;
  const uint64_t slot_max_bytes_;
  uint64_t max_bytes_ = 0, deadline_ms_ = 0;
  backend::Reservation message_;  // for the request while it is on its way
  Inputs inputs_;
  remote::Outputs outputs_;
  backend::CancelGate gate_;
  std::shared_ptr<Call> call_;  // that runs
  bool computed_ = false;
};

}  // namespace wasinn::remote

#endif  // WASINN_BACKENDS_REMOTE_CONTEXT_H_
