#include "serve/grpc/grpc_reactors.h"

#include <algorithm>

#include "serve/grpc/grpc_service.h"

namespace wasinn::serve {

void GrpcBidi::Begin(const Gate& gate) {
  grpc::Status admitted = is_one_too_many() ? TooManyCalls() : Admit(gate);
  admitted.ok() ? ReadNext() : End(std::move(admitted));
}

GrpcStream::GrpcStream(GrpcService& service, GrpcCalls& calls, grpc::CallbackServerContext& context)
    : GrpcBidi(calls, context, "ModelStreamInfer"), service_(service) {
  Begin(service.gate());
}

void GrpcStream::Answer() {
  if (is_outdated(service_.gate())) {
    return End({grpc::UNAVAILABLE, "the server has read its configuration again: begin a new stream"});
  }
  has_ended_ = false;
  charge_ = Charge(admission().tenant->budget());
  service_.Infer(
      request_, *this,
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
