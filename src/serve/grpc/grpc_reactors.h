// The reactors of calls, between gRPC and the server. Each deletes itself at its call's end.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <deque>
#include <mutex>
#include <utility>

#include "serve/grpc/grpc_calls.h"
#include "serve/grpc/grpc_response.h"
#include "serve/tenants/memory_budget.h"

namespace wasinn::serve {

class GrpcService;

// One request, one answer.
class GrpcUnary final : public grpc::ServerUnaryReactor, public GrpcCall {
 public:
  GrpcUnary(GrpcCalls& calls, grpc::CallbackServerContext& context, const char* method, const grpc::ByteBuffer& request)
      : GrpcCall(calls, context, method) {
    CountRequest(request.Length());
  }

  // Charges an answer that is not charged elsewhere, until it is written. False: there is no room.
  [[nodiscard]] bool TakeRoom(uint64_t bytes) {
    charge_ = Charge(admission().tenant->budget());
    return charge_.Add(bytes);
  }
  // Call it once, with the bytes of the answer's message. The object may be deleted afterwards.
  void End(grpc::Status status, uint64_t bytes = 0) {
    CountResponse(bytes);
    SetStatus(status.error_code());
    ExpectWrite(bytes);
    Finish(std::move(status));
  }

 private:
  void OnCancel() override { cancellation().Cancel(); }
  void OnDone() override { delete this; }
  bool InternalInlineable() override { return true; }  // neither blocks, so gRPC needs no other thread for them

  Charge charge_;
};

// Requests over one stream, each answered before the next is read.
class GrpcBidi : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>, public GrpcCall {
 protected:
  using GrpcCall::GrpcCall;
  // Call it once, first.
  void Begin(const Gate& gate);
  void ReadNext() {
    ExpectRequest();
    StartRead(&request_);
  }
  void WriteResponse() {
    CountResponse(response_.Length());
    ExpectWrite(response_.Length());
    StartWrite(&response_);
  }
  void End(grpc::Status status) {
    SetStatus(status.error_code());
    ExpectWrite(0);
    Finish(std::move(status));
  }
  // `request_` has come.
  virtual void Answer() = 0;

  grpc::ByteBuffer request_, response_;

 private:
  void OnReadDone(bool ok) override {
    if (!StopResting()) return;
    if (!ok) return End(grpc::Status::OK);
    ExpectNothing();
    CountMessage();
    CountRequest(request_.Length());
    Answer();
  }
  void OnCancel() override { cancellation().Cancel(); }
  void OnDone() override { delete this; }
  void EndAtRest() override { End({grpc::UNAVAILABLE, "the server is shutting down"}); }
  bool InternalInlineable() override { return true; }
};

// Inferences, one after the other, each answered before the next is read: by one response, or by many (a decoupled model's).
class GrpcStream final : public GrpcBidi {
 public:
  GrpcStream(GrpcService& service, GrpcCalls& calls, grpc::CallbackServerContext& context);

 private:
  // Sends a part. False: no room for more, or the client does not read. Thread-safe, like the next one.
  bool Send(grpc::ByteBuffer part);
  // Sends the last one, or ends without one if it is invalid.
  void Last(grpc::ByteBuffer part);
  void WriteNext();
  void Answer() override;
  void OnWriteDone(bool ok) override;

  GrpcService& service_;
  std::mutex mutex_;  // guards the members below
  std::deque<grpc::ByteBuffer> waiting_;
  Charge charge_;  // for these
  bool is_writing_ = false, is_broken_ = false;
  bool has_ended_ = false;  // for the request
};

}  // namespace wasinn::serve
