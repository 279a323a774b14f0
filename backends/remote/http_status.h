// What a status of HTTP means.
#pragma once

#include <grpcpp/support/status.h>

#include <string_view>

namespace wasinn::remote {

// In gRPC's words, with those of the server from the body of its answer.
grpc::Status StatusOf(unsigned code, std::string_view body);

}  // namespace wasinn::remote
