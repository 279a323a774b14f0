// A stream of inferences: one after the other, each answered before the next is read.
#pragma once

#include <inference.grpc.pb.h>
#include "serve/grpc_service.h"

namespace wasinn::serve {

// Deletes itself at the stream's end. No two of its calls run at the same time.
class GrpcStream final
    : public grpc::ServerBidiReactor<inference::ModelInferRequest, inference::ModelStreamInferResponse> {
 public:
  explicit GrpcStream(GrpcService& service) : service_(service) { StartRead(&request_); }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    response_.Clear();
    service_.Infer(request_, *response_.mutable_infer_response(), [this](const grpc::Status& status) {
      if (!status.ok()) {
        response_.set_error_message(status.error_message());
        response_.mutable_infer_response()->set_id(request_.id());
      }
      StartWrite(&response_);
    });
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::CANCELLED);
    StartRead(&request_);
  }
  void OnDone() override { delete this; }

  GrpcService& service_;
  inference::ModelInferRequest request_;
  inference::ModelStreamInferResponse response_;
};

}  // namespace wasinn::serve
