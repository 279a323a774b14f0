#include "serve/grpc/grpc_calls.h"

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "serve/grpc/grpc_service.h"

namespace wasinn::serve {

namespace {

// A stream is idle if its client has not sent its next request for this long.
constexpr std::chrono::milliseconds kIdleAfter{500};

// The value of a call, if it came once; else "".
std::string_view MetadataOf(const grpc::CallbackServerContext& context, const char* name) {
  const auto& metadata = context.client_metadata();
  const auto [first, last] = metadata.equal_range(name);
  if (first == last || std::next(first) != last) return "";
  return {first->second.data(), first->second.size()};
}

const char* NameOf(grpc::StatusCode code) {
  static constexpr const char* kNames[] = {
      "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
      "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
      "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
      "DATA_LOSS", "UNAUTHENTICATED"};
  const auto number = static_cast<size_t>(code);
  return number < std::size(kNames) ? kNames[number] : "UNKNOWN";
}

grpc::StatusCode CodeOf(wasinn_code code) {
  switch (code) {
    case WASINN_ERROR_NOT_FOUND:
    case WASINN_ERROR_MODEL_NOT_FOUND:
      return grpc::NOT_FOUND;
    case WASINN_ERROR_INVALID_ARGUMENT:
    case WASINN_ERROR_INVALID_ENCODING:
    case WASINN_ERROR_PROMPT_TOO_LONG:
      return grpc::INVALID_ARGUMENT;
    case WASINN_ERROR_UNSUPPORTED_OPERATION:
      return grpc::UNIMPLEMENTED;
    case WASINN_ERROR_TOO_LARGE:
    case WASINN_ERROR_BUSY:
      return grpc::RESOURCE_EXHAUSTED;
    case WASINN_ERROR_SECURITY:
      return grpc::PERMISSION_DENIED;
    case WASINN_ERROR_TIMEOUT:
      return grpc::DEADLINE_EXCEEDED;
    case WASINN_ERROR_UNAVAILABLE:
    case WASINN_ERROR_LOST:
      return grpc::UNAVAILABLE;
    default:
      return grpc::INTERNAL;
  }
}

}  // namespace

GrpcCall::GrpcCall(GrpcCalls& calls, grpc::CallbackServerContext& context, const char* method)
    : calls_(calls), context_(context), method_(method) {
  about_.trace = ContinueTrace(MetadataOf(context, "traceparent"));
  if (about_.trace.is_continued()) context.AddInitialMetadata("traceparent", about_.trace.ToHeader());
  const std::lock_guard lock(calls_.mutex_);
  calls_.calls_.push_back(*this);
  is_one_too_many_ = calls_.calls_.size() > calls_.limits_.most;
}

GrpcCall::~GrpcCall() {
  Log();
  const std::lock_guard lock(calls_.mutex_);
  calls_.calls_.erase(calls_.calls_.iterator_to(*this));
}

grpc::Status GrpcCall::Admit(const Gate& gate) {
  if (is_one_too_many_) return {grpc::RESOURCE_EXHAUSTED, "there are too many calls"};
  auto admitted = gate.Admit(MetadataOf(context_, "authorization"));
  if (!admitted) {
    return {admitted.error().needs_key ? grpc::UNAUTHENTICATED : grpc::RESOURCE_EXHAUSTED,
            admitted.error().failure.message};
  }
  admission_ = std::move(*admitted);
  if (!admission_.tenant->share().is_alone()) about_.tenant = admission_.tenant->name();
  return grpc::Status::OK;
}

void GrpcCall::Log() noexcept {
  AccessLog* const log = calls_.access_log_.get();
  try {
    if (calls_.requests_ != nullptr) {
      calls_.requests_->Add("grpc", method_, NameOf(cancellation_.is_cancelled() ? grpc::CANCELLED : status_), about_,
                            admission_.generation.get());
    }
    if (log == nullptr) return;
    const auto duration = std::chrono::duration_cast<std::chrono::microseconds>(MinDataRate::Clock::now() - begun_);
    const bool is_cancelled = cancellation_.is_cancelled();
    log->Add({.time = std::chrono::system_clock::now() - duration,
              .peer = Bounded(context_.peer(), kMaxLogged),
              .protocol = "gRPC",
              .method = method_,
              .target = *method_ == '/' ? method_ : std::string("/inference.GRPCInferenceService/") + method_,
              .status = is_cancelled ? grpc::CANCELLED : status_,
              .is_complete = !is_cancelled,
              .bytes_in = bytes_in_,
              .bytes_out = bytes_out_,
              .n_messages = n_messages_,
              .duration = duration,
              .about = std::move(about_),
              .user_agent = Bounded(MetadataOf(context_, "user-agent"), kMaxLogged)});
  } catch (const std::exception&) {  // no memory
    if (log != nullptr) log->AddDropped();
  }
}

void GrpcCall::ExpectWrite(uint64_t bytes) { Until(MinDataRate(calls_.limits_.slow).DeadlineOf(bytes)); }

void GrpcCalls::EndIdle() {
  const auto last = (MinDataRate::Clock::now() - kIdleAfter).time_since_epoch().count();
  std::vector<GrpcCall*> idle;
  {
    const std::lock_guard lock(mutex_);
    idle.reserve(calls_.size());
    for (GrpcCall& call : calls_) {
      auto since = call.idle_since_.load(std::memory_order_relaxed);
      const bool is_idle = since != GrpcCall::kBusy && since <= last;
      if (is_idle && call.idle_since_.compare_exchange_strong(since, GrpcCall::kBusy)) idle.push_back(&call);
    }
  }
  for (GrpcCall* const call : idle) call->EndWhileIdle();  // no other code ends them, so they still exist
}

void GrpcCalls::Sweep() {
  if (is_draining_.load(std::memory_order_relaxed)) EndIdle();
  const auto now = MinDataRate::Clock::now().time_since_epoch().count();
  const std::lock_guard lock(mutex_);
  for (GrpcCall& call : calls_) {
    if (call.deadline_.load(std::memory_order_relaxed) > now) continue;
    call.ExpectNothing();
    call.context_.TryCancel();  // its reactor is notified on another thread: this one has the lock
  }
}

grpc::Status ToGrpc(const Failure& failure) { return {CodeOf(failure.code), failure.message}; }

Failure CaughtFailure() {
  try {
    throw;
  } catch (const Failure& failure) {
    return failure;
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  } catch (const std::exception& thrown) {
    return {WASINN_ERROR_RUNTIME, thrown.what()};
  }
}

void GrpcBidi::Begin(const Gate& gate) {
  grpc::Status admitted = Admit(gate);
  admitted.ok() ? ReadNext() : End(std::move(admitted));
}

GrpcStream::GrpcStream(const GrpcParts& parts, grpc::CallbackServerContext& context)
    : GrpcBidi(parts.calls, context, "ModelStreamInfer"), parts_(parts) {
  Begin(parts.gate);
}

void GrpcStream::Answer() {
  if (is_outdated(parts_.gate)) {
    return End({grpc::UNAVAILABLE, "the server has read its configuration again: begin a new stream"});
  }
  has_ended_ = false;
  charge_ = Charge(admission().tenant->budget());
  InferByGrpc(
      parts_, request_, *this,
      [this](auto answer, const std::string& id) {
        if (!answer) answer = WriteError(id, answer.error().message);
        request_.Clear();
        Last(std::move(*answer));
      },
      [this](grpc::ByteBuffer part) { return Send(std::move(part)); });
}

bool GrpcStream::Send(grpc::ByteBuffer part) {
  {
    const std::lock_guard lock(mutex_);
    if (is_broken_ || !charge_.Add(part.Length())) return false;
    waiting_.push_back(std::move(part));
    if (std::exchange(is_writing_, true)) return true;
  }
  WriteNext();
  return true;
}

void GrpcStream::Last(grpc::ByteBuffer part) {
  {
    const std::lock_guard lock(mutex_);
    if (part.Valid()) waiting_.push_back(std::move(part));
    has_ended_ = true;
    if (std::exchange(is_writing_, true)) return;
  }
  WriteNext();
}

void GrpcStream::WriteNext() {
  {
    const std::lock_guard lock(mutex_);
    if (is_broken_) waiting_.clear();
    if (!waiting_.empty()) {
      response_.Swap(&waiting_.front());
      waiting_.pop_front();
      charge_.ShrinkTo(charge_.bytes() - std::min<uint64_t>(charge_.bytes(), response_.Length()));
    } else if (!has_ended_) {
      is_writing_ = false;  // until the next part comes
      return ExpectNothing();
    }
  }
  if (response_.Valid()) return WriteResponse();
  is_writing_ = false;  // no other thread is here any more
  is_broken_ ? End(grpc::Status::CANCELLED) : ReadNext();
}

void GrpcStream::OnWriteDone(bool ok) {
  response_.Clear();
  if (!ok) {
    cancellation().Cancel();
    const std::lock_guard lock(mutex_);
    is_broken_ = true;
  }
  WriteNext();
}

}  // namespace wasinn::serve
