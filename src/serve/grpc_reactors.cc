#include "serve/grpc_reactors.h"

#include "serve/grpc_service.h"

namespace wasinn::serve {

GrpcStream::GrpcStream(GrpcService& service, GrpcCalls& calls, grpc::CallbackServerContext& context)
    : GrpcCall(calls, context), service_(service) {
  is_one_too_many() ? End(TooManyCalls()) : ReadNext();
}

void GrpcStream::OnReadDone(bool ok) {
  if (!ok) return End(grpc::Status::OK);
  ExpectNothing();
  service_.Infer(request_, cancellation(), GrpcForm::kStreamResponse, [this](auto answer, const std::string& id) {
    if (!answer) answer = WriteError(id, answer.error().message);
    response_.Swap(&*answer);
    request_.Clear();
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
