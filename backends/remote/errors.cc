#include "remote/errors.h"

#include <fmt/format.h>
#include <google/protobuf/stubs/common.h>

#include <algorithm>

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
  size_t end = std::min(text.size(), kMost);
  // Not within a character.
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  std::string quoted = text.substr(0, end);
  const bool is_utf8 =
      google::protobuf::internal::IsStructurallyValidUTF8(quoted.data(), static_cast<int>(quoted.size()));
  for (char& c : quoted) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = ' ';
    if (byte >= 0x80 && !is_utf8) c = '?';
  }
  return text.size() > end ? quoted + "…" : quoted;
}

backend::Error ErrorOf(const grpc::Status& status) { return {CodeOf(status), Quoted(status.error_message())}; }

void ThrowStatus(const grpc::Status& status, const std::string& server) {
  throw backend::Error(CodeOf(status), fmt::format("{}: {}", server, Quoted(status.error_message())));
}

}  // namespace wasinn::remote
