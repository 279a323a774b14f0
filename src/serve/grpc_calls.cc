#include "serve/grpc_calls.h"

namespace wasinn::serve {

GrpcCall::GrpcCall(GrpcCalls& calls, grpc::CallbackServerContext& context) : calls_(calls), context_(context) {
  const std::lock_guard lock(calls_.mutex_);
  calls_.calls_.push_back(*this);
  is_one_too_many_ = calls_.calls_.size() > calls_.limits_.most;
}

GrpcCall::~GrpcCall() {
  const std::lock_guard lock(calls_.mutex_);
  calls_.calls_.erase(calls_.calls_.iterator_to(*this));
}

void GrpcCall::ExpectWrite(uint64_t bytes) {
  Pace pace(calls_.limits_.slow);
  pace.Add(bytes);
  Until(pace.deadline());
}

void GrpcCalls::Sweep() {
  const auto now = Pace::Clock::now().time_since_epoch().count();
  const std::lock_guard lock(mutex_);
  for (GrpcCall& call : calls_) {
    if (call.deadline_.load(std::memory_order_relaxed) > now) continue;
    call.ExpectNothing();
    call.context_.TryCancel();  // whose reactor is told on another thread: this one has the lock
  }
}

}  // namespace wasinn::serve
