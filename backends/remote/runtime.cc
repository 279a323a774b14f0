// One inference in flight, and the table of functions of the library that needs gRPC.
#include <fmt/format.h>
#include <wasinn/backend.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "common/error.h"
#include "common/reservation.h"
#include "common/table.h"
#include "remote/exchange.h"
#include "remote/model.h"
#include "remote/protocol.h"
#include "remote/servers.h"
#include "remote/tensors.h"

namespace wasinn::remote {

using backend::Error;

namespace {

Deadline After(uint64_t milliseconds) {
  if (milliseconds == 0) return std::nullopt;
  constexpr uint64_t kYear = uint64_t{365} * 24 * 60 * 60 * 1000;
  return std::chrono::system_clock::now() + std::chrono::milliseconds(std::min(milliseconds, kYear));
}

}  // namespace

// Used by one thread at a time; Cancel is thread-safe.
class Context {
 public:
  Context(Model& model, const wasinn_slot_options& options)
      : model_(model),
        settings_(model.protocol().Configure(options.guest_config)),
        slot_max_bytes_(options.max_bytes),
        message_(model.host().services(), options.account),
        inputs_(model.signature()),
        outputs_(model.signature()) {}
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
  void Compute(std::span<const uint32_t> wanted) {
    const std::shared_ptr<Call> call = MakeCall(wanted);
    End(call->Wait());
  }
  // Does not wait. `done` gets the error that Compute would throw, or NULL; it may destroy this object.
  using Done = std::function<void(wasinn_error*)>;
  void ComputeAsync(std::span<const uint32_t> wanted, Done done) {
    const std::shared_ptr<Call> call = MakeCall(wanted);
    call->Begin([this, done = std::move(done)](Answered answered) {
      wasinn_error* const error = backend::Guard([&] { End(std::move(answered)); });
      done(error);
    });
  }
  void Cancel() {
    std::shared_ptr<Call> call;
    {
      const std::lock_guard lock(mutex_);
      call = call_;
      is_cancelled_ = true;
    }
    if (call != nullptr) call->Cancel();
  }
  void Output(uint32_t index, wasinn_tensor* view) {
    RequireOutputs();
    outputs_.View(index, view);
  }
  void TakeOutput(uint32_t index, wasinn_tensor* out) {
    RequireOutputs();
    outputs_.Give(index, out);
  }
  void DiscardOutputs() {
    computed_ = false;
    outputs_.Discard();
  }
  std::span<const wasinn_io* const> Outputs() {
    RequireOutputs();
    return outputs_.Ios();
  }
  // A text arrives whole, as one piece.
  void Step() {
    if (!model_.protocol().generates()) {
      throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION, "the model does not generate step by step");
    }
    if (generates_) {
      has_piece_ = false;
      throw Error(WASINN_ERROR_END_OF_SEQUENCE, "the generation has ended");
    }
    SetDeadline(0);  // the host cancels
    SetMaxBytes(0);
    Compute({});
    generates_ = has_piece_ = true;
  }
  void Piece(uint32_t index, wasinn_tensor* view) {
    if (!has_piece_) throw Error(WASINN_ERROR_INVALID_ARGUMENT, "there is no piece before a step has succeeded");
    Output(index, view);
  }
  void Finish() { generates_ = has_piece_ = false; }

 private:
  std::shared_ptr<Call> MakeCall(std::span<const uint32_t> wanted) {
    computed_ = false;
    Finish();
    inputs_.Choose();
    outputs_.Choose(wanted);
    Servers& servers = model_.servers();
    const Inference inference = model_.protocol().Infer(settings_.get(), inputs_, outputs_);
    const uint64_t most = servers.config().connection.max_message_bytes;
    const uint64_t sent = inference.bytes;
    if (sent > most) {
      throw Error(WASINN_ERROR_TOO_LARGE,
                  fmt::format("the request has {} bytes: max_message_bytes allows {}", sent, most));
    }
    message_.Resize(sent);
    Request request = inference.write();
    // Only the call resizes the reservation until it ends.
    request.charge = [this, sent](uint64_t bytes) { return MayTake(sent + bytes); };
    auto call =
        std::make_shared<Call>(servers, std::move(request), After(deadline_ms_), servers.config().is_idempotent);
    const std::lock_guard lock(mutex_);
    is_cancelled_ = false;
    call_ = call;
    return call;
  }
  bool MayTake(uint64_t bytes) {
    try {
      message_.Resize(bytes);
      return true;
    } catch (const std::exception&) {  // including std::bad_alloc for the message
      return false;
    }
  }
  void End(Answered answered) {
    Reply& reply = answered.reply;
    std::shared_ptr<Call> call;  // destroyed outside of the lock
    {
      const std::lock_guard lock(mutex_);
      call.swap(call_);
      if (is_cancelled_ && reply.status.error_code() == grpc::CANCELLED) {
        reply.status = {grpc::CANCELLED, "the server had not answered"};
      }
    }
    call.reset();
    Servers& servers = model_.servers();
    if (!reply.status.ok()) {
      message_.Resize(0);
      outputs_.Discard();
      const Error error = model_.protocol().ErrorOf(reply);
      throw Error(error.code(), servers.ForGuests(answered.server, error.what()));
    }
    try {
      message_.Resize(model_.protocol().MemoryToRead(reply));
      outputs_.Take(reply.message, model_.protocol().ReadAnswer(reply, kMaxTensors), max_bytes_);
    } catch (const Error& error) {
      message_.Resize(0);
      outputs_.Discard();
      throw Error(error.code(), servers.ForGuests(answered.server, error.what()));
    }
    message_.Resize(0);
    computed_ = true;
  }
  void RequireOutputs() const {
    if (!computed_) throw Error(WASINN_ERROR_INVALID_ARGUMENT, "there is no output before a compute has succeeded");
  }

  Model& model_;
  const std::shared_ptr<const LanguageSettings> settings_;
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

extern "C" WASINN_BACKEND_EXPORT const wasinn_backend* wasinn_remote_runtime() {
  using wasinn::backend::TableOf;
  // Only the backend library reports the identity.
  static const wasinn_backend table =
      TableOf<wasinn::remote::Host, wasinn::remote::Model, wasinn::remote::Context>::Make(
          {.name = "remote", .version = WASINN_BACKEND_VERSION, .formats = {}, .keys = {}, .install = ""});
  return &table;
}
