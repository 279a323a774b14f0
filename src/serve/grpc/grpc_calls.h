// The current calls over gRPC, and how long each of them waits for its client.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/status.h>
#include <boost/intrusive/list.hpp>

#include "serve/generation.h"
#include "serve/grpc/grpc_messages.h"
#include "serve/http/min_data_rate.h"
#include "serve/metrics/access_log.h"
#include "serve/metrics/request_metrics.h"
#include "serve/metrics/trace.h"
#include "serve/oip/inference.h"
#include "serve/tenants/memory_budget.h"
#include "serve/threads/cancellation.h"

namespace wasinn::serve {

class GrpcCall;
struct GrpcParts;

// Thread-safe.
class GrpcCalls {
 public:
  struct Limits {
    size_t most = 16384;
    std::chrono::milliseconds slow{30'000};   // for a response, plus the time of its bytes (min_data_rate.h)
    std::chrono::milliseconds idle{600'000};  // until the next request of a stream has come
  };
  // `access_log`: NULL: none. `requests`: NULL: not counted.
  explicit GrpcCalls(const Limits& limits, std::shared_ptr<AccessLog> access_log = nullptr,
                     RequestMetrics* requests = nullptr)
      : limits_(limits), access_log_(std::move(access_log)), requests_(requests) {}

  // Cancels calls whose clients take too long. Call it now and then.
  void Sweep();
  // From here on Sweep also ends idle calls: they have no request that must be answered.
  void Drain() { is_draining_.store(true, std::memory_order_relaxed); }
  size_t size() const {
    const std::lock_guard lock(mutex_);
    return calls_.size();
  }

 private:
  friend class GrpcCall;
  struct GrpcParts;

  void EndIdle();

  const Limits limits_;
  const std::shared_ptr<AccessLog> access_log_;
  RequestMetrics* const requests_;
  std::atomic<bool> is_draining_{false};
  mutable std::mutex mutex_;  // guards the members below
  boost::intrusive::list<GrpcCall, boost::intrusive::base_hook<boost::intrusive::list_base_hook<>>> calls_;
};

// The common part of calls' reactors. Both arguments outlive it.
class GrpcCall : public boost::intrusive::list_base_hook<> {
 public:
  Cancellation& cancellation() { return cancellation_; }
  // Finds its tenant; OK: there is one, `admission` is set, and there are not too many calls.
  grpc::Status Admit(const Gate& gate);
  // Whether the configuration was read again: then it uses an old one.
  bool is_outdated(const Gate& gate) const { return gate.current() != admission_.generation; }
  void AdmitWithoutKey(const Gate& gate) { admission_ = Gate::AdmitWithoutKey(gate.current()); }
  const Admission& admission() const { return admission_; }
  About& about() { return about_; }

 protected:
  // `method`: only its name, with its service if that is another one; not copied.
  GrpcCall(GrpcCalls& calls, grpc::CallbackServerContext& context, const char* method);
  ~GrpcCall();

  // Sets the next thing to wait for.
  void ExpectRequest() {
    const auto now = MinDataRate::Clock::now();
    Until(now + calls_.limits_.idle);
    idle_since_.store(now.time_since_epoch().count(), std::memory_order_release);
  }
  void ExpectWrite(uint64_t bytes);
  // For the access log.
  void CountRequest(uint64_t bytes) { bytes_in_ += bytes; }
  void CountResponse(uint64_t bytes) { bytes_out_ += bytes; }
  void CountMessage() { ++n_messages_; }
  void SetStatus(grpc::StatusCode status) { status_ = status; }

  void ExpectNothing() { Until(MinDataRate::Clock::time_point::max()); }

  // The request has come, or none will. False: EndWhileIdle ends the call.
  [[nodiscard]] bool StopIdle() { return idle_since_.exchange(kBusy, std::memory_order_acq_rel) != kBusy; }
  // Called once, instead of the code after StopIdle.
  virtual void EndWhileIdle() {}

 private:
  friend class GrpcCalls;
  static constexpr MinDataRate::Clock::rep kBusy = 0;
  void Until(MinDataRate::Clock::time_point deadline) {
    deadline_.store(deadline.time_since_epoch().count(), std::memory_order_relaxed);
  }

  void Log() noexcept;

  GrpcCalls& calls_;
  grpc::CallbackServerContext& context_;
  std::atomic<MinDataRate::Clock::rep> deadline_{MinDataRate::Clock::time_point::max().time_since_epoch().count()};
  std::atomic<MinDataRate::Clock::rep> idle_since_{kBusy};  // for its client's next request
  bool is_one_too_many_ = false;                            // there are too many calls: it only gets that answer
  Cancellation cancellation_;
  Admission admission_;
  const char* const method_;
  const MinDataRate::Clock::time_point begun_ = MinDataRate::Clock::now();
  About about_;
  uint64_t bytes_in_ = 0, bytes_out_ = 0, n_messages_ = 0;
  grpc::StatusCode status_ = grpc::CANCELLED;
};

// Failures as gRPC's statuses.
grpc::Status ToGrpc(const Failure& failure);

// The caught exception: a Failure, lack of memory, or the server's own.
Failure CaughtFailure();

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
    if (!StopIdle()) return;
    if (!ok) return End(grpc::Status::OK);
    ExpectNothing();
    CountMessage();
    CountRequest(request_.Length());
    Answer();
  }
  void OnCancel() override { cancellation().Cancel(); }
  void OnDone() override { delete this; }
  void EndWhileIdle() override { End({grpc::UNAVAILABLE, "the server is shutting down"}); }
  bool InternalInlineable() override { return true; }
};

// Inferences, one after the other, each answered before the next is read: by one response, or by many (a decoupled model's).
class GrpcStream final : public GrpcBidi {
 public:
  GrpcStream(const GrpcParts& parts, grpc::CallbackServerContext& context);

 private:
  // Sends a part. False: no room for more, or the client does not read. Thread-safe, like the next one.
  bool Send(grpc::ByteBuffer part);
  // Sends the last one, or ends without one if it is invalid.
  void Last(grpc::ByteBuffer part);
  void WriteNext();
  void Answer() override;
  void OnWriteDone(bool ok) override;

  const GrpcParts& parts_;
  std::mutex mutex_;  // guards the members below
  std::deque<grpc::ByteBuffer> waiting_;
  Charge charge_;  // for these
  bool is_writing_ = false, is_broken_ = false;
  bool has_ended_ = false;  // for the request
};

// Gets the calls that no other service has: gRPC's server reflection (v1 and v1alpha), by which clients such as grpcurl
// find the callable services. gRPC's own has a thread for each open stream. Both arguments outlive it.
std::unique_ptr<grpc::CallbackGenericService> NewGrpcReflection(const Gate& gate, GrpcCalls& calls);

}  // namespace wasinn::serve
