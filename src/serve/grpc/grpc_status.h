// What went wrong, as gRPC has it.
#pragma once

#include <grpcpp/support/status.h>

#include <exception>

#include "serve/oip/inference.h"

namespace wasinn::serve {

grpc::Status ToGrpc(const Failure& failure);
inline grpc::Status ToGrpc(const Outcome<void>& done) { return done ? grpc::Status::OK : ToGrpc(done.error()); }
inline grpc::Status TooManyCalls() { return {grpc::RESOURCE_EXHAUSTED, "there are as many calls as may be"}; }

// What is thrown is for want of memory, or ours.
Failure ToFailure(const std::exception& thrown);

}  // namespace wasinn::serve
