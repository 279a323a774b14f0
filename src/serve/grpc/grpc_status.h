// Failures as gRPC's statuses.
#pragma once

#include <grpcpp/support/status.h>

#include <exception>

#include "serve/oip/inference.h"

namespace wasinn::serve {

grpc::Status ToGrpc(const Failure& failure);
inline grpc::Status ToGrpc(const Outcome<void>& done) { return done ? grpc::Status::OK : ToGrpc(done.error()); }
inline grpc::Status TooManyCalls() { return {grpc::RESOURCE_EXHAUSTED, "there are as many calls as may be"}; }

// Exceptions are lack of memory, or the server's own.
Failure ToFailure(const std::exception& thrown);

}  // namespace wasinn::serve
