// What a call that failed says to a guest.
#pragma once

#include <grpcpp/support/status.h>
#include <wasinn/types.h>

#include <string>

#include "common/error.h"

namespace wasinn::remote {

// UNAVAILABLE is of the server; what a model says about itself is never that.
wasinn_code CodeOf(const grpc::Status& status);
// A server's text, which may be anybody's: cut, in one line, and UTF-8.
std::string Quoted(const std::string& text);
// What gRPC and TLS say of a connection names its ends: `endpoint` or its host as "the server", and gRPC's "ipv4:10.0.0.3:8001: " not at all.
std::string WithoutAddress(std::string text, const std::string& endpoint);
// As an Error.
backend::Error ErrorOf(const grpc::Status& status);

}  // namespace wasinn::remote
