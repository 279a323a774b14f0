// One inference in flight.
#pragma once

#include <wasinn/backend.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include "common/reservation.h"
#include "remote/call.h"
#include "remote/inputs.h"
#include "remote/model.h"
#include "remote/outputs.h"

namespace wasinn::remote {

// Used by one thread at a time; Cancel is thread-safe.
class Context {
 public:
  Context(Model& model, const wasinn_slot_options& options);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  void BindInput(uint32_t index, const wasinn_tensor& tensor) {
    Finish();
    inputs_.Bind(index, tensor);
  }
  void UnbindInput(uint32_t index) {
    Finish();
    inputs_.Unbind(index);
  }
  void BindOutput(uint32_t index, const wasinn_tensor& tensor) { outputs_.Bind(index, tensor); }
  // For the next compute; 0: no deadline, or the slot's limit.
  void SetDeadline(uint64_t milliseconds) { deadline_ms_ = milliseconds; }
  void SetMaxBytes(uint64_t bytes) { max_bytes_ = bytes == 0 ? slot_max_bytes_ : bytes; }
  void Compute(std::span<const uint32_t> wanted);
  // Does not wait. `done` gets the error that Compute would throw, or NULL; it may destroy this object.
  using Done = std::function<void(wasinn_error*)>;
  void ComputeAsync(std::span<const uint32_t> wanted, Done done);
  void Cancel();
  void Output(uint32_t index, wasinn_tensor* view);
  void TakeOutput(uint32_t index, wasinn_tensor* out);
  void DiscardOutputs();
  std::span<const wasinn_io* const> Outputs();
  // A text arrives whole, as one piece.
  void Step();
  void Piece(uint32_t index, wasinn_tensor* view);
  void Finish() { generates_ = has_piece_ = false; }

 private:
  std::shared_ptr<Call> MakeCall(std::span<const uint32_t> wanted);
  bool MayTake(uint64_t bytes);
  void End(Answered answered);
  void RequireOutputs() const;

  Model& model_;
  const std::unique_ptr<const GuestSettings> settings_;
  const uint64_t slot_max_bytes_;
  uint64_t max_bytes_ = 0, deadline_ms_ = 0;
  backend::Reservation message_;  // for the request and the answer in flight
  Inputs inputs_;
  remote::Outputs outputs_;
  bool computed_ = false;
  bool generates_ = false, has_piece_ = false;
  std::mutex mutex_;            // guards the members below; not held in calls of the transport, which may end the call
  std::shared_ptr<Call> call_;  // the running call
  bool is_cancelled_ = false;
};

}  // namespace wasinn::remote
