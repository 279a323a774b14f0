// Errors in the form of OpenAI's API.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "serve/http/http_message.h"

namespace wasinn::serve::openai {

// Thrown by functions that read requests.
struct ApiError {
  http::status status = http::status::bad_request;
  std::string message;
  std::string param;  // the invalid field; "": none
  std::string code;   // "": no code
  // The lengths of a prompt that is too long, if its tokens were counted.
  struct Length {
    uint64_t prompt = 0, context = 0;
  };
  std::optional<Length> length;
};

[[noreturn]] inline void ThrowWrong(const std::string& param, std::string message) {
  throw ApiError{.message = std::move(message), .param = param};
}
template <typename Arg, typename... Args>
[[noreturn]] void ThrowWrong(const std::string& param, fmt::format_string<Arg, Args...> format, Arg&& arg,
                             Args&&... args) {
  ThrowWrong(param, fmt::format(format, std::forward<Arg>(arg), std::forward<Args>(args)...));
}

ApiError ToApiError(const Failure& failure);
// {"error": {"message", "type", "param", "code"}}
nlohmann::json ToJson(const ApiError& error);
Response ToResponse(const ApiError& error);

// Converts an error from the server's usual form.
void Shape(Response& response);

}  // namespace wasinn::serve::openai
