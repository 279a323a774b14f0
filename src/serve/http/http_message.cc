#include "serve/http/http_message.h"

#include <fmt/format.h>

namespace wasinn::serve {
namespace {

http::status StatusOf(wasinn_code code) {
  switch (code) {
    case WASINN_ERROR_NOT_FOUND:
    case WASINN_ERROR_MODEL_NOT_FOUND:
      return http::status::not_found;
    case WASINN_ERROR_INVALID_ARGUMENT:
    case WASINN_ERROR_INVALID_ENCODING:
    case WASINN_ERROR_UNSUPPORTED_OPERATION:
    case WASINN_ERROR_PROMPT_TOO_LONG:
      return http::status::bad_request;
    case WASINN_ERROR_TOO_LARGE:
      return http::status::payload_too_large;
    case WASINN_ERROR_BUSY:
      return http::status::too_many_requests;
    case WASINN_ERROR_SECURITY:
      return http::status::forbidden;
    case WASINN_ERROR_TIMEOUT:
      return http::status::gateway_timeout;
    case WASINN_ERROR_UNAVAILABLE:
    case WASINN_ERROR_LOST:
      return http::status::service_unavailable;
    default:
      return http::status::internal_server_error;
  }
}

}  // namespace

Response ErrorResponse(http::status status, const std::string& message) {
  Response response{.status = status};
  if (status == http::status::too_many_requests) response.headers = {{"Retry-After", "1"}};
  response.text = Dump({{"error", message}});
  response.error = message;
  return response;
}

Response NotFound() { return ErrorResponse(http::status::not_found, "there is nothing of this name"); }

Response WrongMethod(const char* allowed) {
  Response response = ErrorResponse(http::status::method_not_allowed, fmt::format("only {} is known here", allowed));
  response.headers = {{"Allow", allowed}};
  return response;
}

Response ToResponse(const Failure& failure) { return ErrorResponse(StatusOf(failure.code), failure.message); }

}  // namespace wasinn::serve
