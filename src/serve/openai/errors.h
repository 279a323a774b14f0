// Errors in the form that clients of OpenAI's API know.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "serve/http/http_message.h"

namespace wasinn::serve::openai {

// Thrown by what reads requests.
struct ApiError {
  http::status status = http::status::bad_request;
  std::string message;
  std::string param;  // the field that is wrong; "": none
  std::string code;   // "": none
  // A prompt that is too long, where its tokens were counted.
  struct Length {
    uint64_t prompt = 0, context = 0;
  };
  std::optional<Length> length;
};

[[noreturn]] inline void ThrowWrong(const std::string& param, std::string message) {
  throw ApiError{.message = std::move(message), .param = param};
}

ApiError ToApiError(const Failure& failure);
// {"error": {"message", "type", "param", "code"}}
nlohmann::json ToJson(const ApiError& error);
Response ToResponse(const ApiError& error);

// An error that has the server's usual form gets this one.
void Shape(Response& response);

// Without what UTF-8 has no place for.
inline std::string Dump(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace wasinn::serve::openai
