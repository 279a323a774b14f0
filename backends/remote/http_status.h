// Maps statuses of HTTP.
#pragma once

#include <grpcpp/support/status.h>

#include <string_view>

namespace wasinn::remote {

// A status of gRPC, with the server's message from its answer's body.
grpc::Status StatusOf(unsigned code, std::string_view body);

}  // namespace wasinn::remote
