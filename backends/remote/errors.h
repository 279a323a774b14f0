// Errors of failed calls, for guests.
#pragma once

#include <grpcpp/support/status.h>
#include <wasinn/types.h>

#include <string>
#include <string_view>

#include "common/error.h"

namespace wasinn::remote {

// UNAVAILABLE is about the server, never about an error that a model reports.
wasinn_code CodeOf(const grpc::Status& status);
// A status of HTTP as one of gRPC, with the server's message from its answer's body.
grpc::Status StatusOf(unsigned code, std::string_view body);
// A server's text is untrusted: the result is shortened, on one line, and UTF-8.
std::string Quoted(const std::string& text);
// Replaces `endpoint` and its host by "the server" in messages of gRPC and TLS, and removes "ipv4:10.0.0.3:8001: ".
std::string WithoutAddress(std::string text, const std::string& endpoint);
backend::Error ErrorOf(const grpc::Status& status);

}  // namespace wasinn::remote
