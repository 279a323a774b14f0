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

// One thread at a time; Cancel from any.
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
  // Of the next compute; 0: none, or the slot's.
  void SetDeadline(uint64_t milliseconds) { deadline_ms_ = milliseconds; }
  void SetMaxBytes(uint64_t bytes) { max_bytes_ = bytes == 0 ? slot_max_bytes_ : bytes; }
  void Compute(std::span<const uint32_t> wanted);
  // Waits for nothing. `done` gets what Compute would have thrown, or NULL; it may destroy this.
  using Done = std::function<void(wasinn_error*)>;
  void ComputeAsync(std::span<const uint32_t> wanted, Done done);
  void Cancel();
  void Output(uint32_t index, wasinn_tensor* view);
  void TakeOutput(uint32_t index, wasinn_tensor* out);
  void DiscardOutputs();
  std::span<const wasinn_io* const> Outputs();
  // A text comes whole: it is one piece.
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
  backend::Reservation message_;  // for the request and the answer while they are on their way
  Inputs inputs_;
  remote::Outputs outputs_;
  bool computed_ = false;
  bool generates_ = false, has_piece_ = false;
  std::mutex mutex_;  // of what follows; never held while the transport is called, which may end the call there
  std::shared_ptr<Call> call_;  // that runs
  bool is_cancelled_ = false;
};

}  // namespace wasinn::remote
