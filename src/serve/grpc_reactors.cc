#include "serve/grpc_reactors.h"

#include <utility>

#include "serve/grpc_service.h"

namespace wasinn::serve {

GrpcStream::GrpcStream(GrpcService& service, GrpcCalls& calls, grpc::CallbackServerContext& context)
    : GrpcCall(calls, context, "ModelStreamInfer"), service_(service) {
  grpc::Status admitted = is_one_too_many() ? TooManyCalls() : Admit(service.gate());
  admitted.ok() ? ReadNext() : End(std::move(admitted));
}

void GrpcStream::OnReadDone(bool ok) {
  if (!StopResting()) return;
  if (!ok) return End(grpc::Status::OK);
  ExpectNothing();
  if (is_outdated(service_.gate())) {
    return End({grpc::UNAVAILABLE, "the server has read its configuration again: begin a new stream"});
  }
  CountMessage();
  CountRequest(request_.Length());
  service_.Infer(request_, *this, GrpcForm::kStreamResponse, [this](auto answer, const std::string& id) {
    if (!answer) answer = WriteError(id, answer.error().message);
    response_.Swap(&*answer);
    request_.Clear();
    CountResponse(response_.Length());
    ExpectWrite(response_.Length());
    StartWrite(&response_);
  });
}

void GrpcStream::OnWriteDone(bool ok) {
  response_.Clear();
  if (!ok) return End(grpc::Status::CANCELLED);
  ReadNext();
}

}  // namespace wasinn::serve
