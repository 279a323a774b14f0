#include "remote/errors.h"

#include <fmt/format.h>

#include "common/error.h"

namespace wasinn::remote {

wasinn_code CodeOf(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::OK:
      return WASINN_OK;
    case grpc::CANCELLED:
    case grpc::DEADLINE_EXCEEDED:
      return WASINN_TIMEOUT;
    case grpc::UNAVAILABLE:
      return WASINN_UNAVAILABLE;
    case grpc::INVALID_ARGUMENT:
      return WASINN_INVALID_ARGUMENT;
    case grpc::NOT_FOUND:
      return WASINN_NOT_FOUND;
    case grpc::RESOURCE_EXHAUSTED:
      return WASINN_TOO_LARGE;
    case grpc::UNIMPLEMENTED:
      return WASINN_UNSUPPORTED_OPERATION;
    case grpc::PERMISSION_DENIED:
    case grpc::UNAUTHENTICATED:
      return WASINN_SECURITY;
    default:
      return WASINN_RUNTIME_ERROR;
  }
}

std::string Quoted(const std::string& text) {
  constexpr size_t kMost = 1000;
  std::string quoted = text.substr(0, kMost);
  for (char& c : quoted) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return text.size() > kMost ? quoted + "…" : quoted;
}

void ThrowStatus(const grpc::Status& status, const std::string& server) {
  throw backend::Error(CodeOf(status), fmt::format("{}: {}", server, Quoted(status.error_message())));
}

}  // namespace wasinn::remote
