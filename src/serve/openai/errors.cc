#include "serve/openai/errors.h"

namespace wasinn::serve::openai {
namespace {

using nlohmann::json;

struct Words {
  const char* type;
  const char* code;  // "": no code
};

Words WordsOf(http::status status) {
  switch (status) {
    case http::status::unauthorized:
      return {"authentication_error", "invalid_api_key"};
    case http::status::forbidden:
      return {"permission_error", ""};
    case http::status::not_found:
      return {"not_found_error", ""};
    case http::status::too_many_requests:
      return {"rate_limit_error", "rate_limit_exceeded"};
    case http::status::service_unavailable:
      return {"unavailable_error", ""};
    default:
      return {
          http::to_status_class(status) == http::status_class::server_error ? "server_error" : "invalid_request_error",
          ""};
  }
}

json OrNull(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

// Finds the token counts in the message.
std::optional<ApiError::Length> LengthOf(const std::string& message) {
  ApiError::Length length;
  const size_t at = message.find("the prompt has "), context = message.find("the context has ");
  if (at == std::string::npos || context == std::string::npos) return std::nullopt;
  if (std::sscanf(message.c_str() + context, "the context has %" SCNu64, &length.context) != 1) return std::nullopt;
  const char* const prompt = message.c_str() + at;
  int end = 0;
  if (std::sscanf(prompt, "the prompt has %" SCNu64 " tokens%n", &length.prompt, &end) == 1 && end != 0) return length;
  // Such a long text is not tokenized: the message has a lower limit.
  uint64_t bytes = 0, longest = 0;
  if (std::sscanf(prompt, "the prompt has %" SCNu64 " bytes, and no token has more than %" SCNu64, &bytes, &longest) !=
          2 ||
      longest == 0) {
    return std::nullopt;
  }
  length.prompt = (bytes + longest - 1) / longest;
  return length;
}

}  // namespace

ApiError ToApiError(const Failure& failure) {
  if (failure.code != WASINN_ERROR_PROMPT_TOO_LONG) {
    return {.status = serve::ToResponse(failure).status, .message = failure.message};
  }
  // Programs look for this message of llama.cpp's server.
  return {.message = "the prompt is too large, it exceeds the available context size: " + failure.message,
          .code = "context_length_exceeded",
          .length = LengthOf(failure.message)};
}

json ToJson(const ApiError& error) {
  const Words words = WordsOf(error.status);
  json body = {{"message", error.message},
               {"type", words.type},
               {"param", OrNull(error.param)},
               {"code", OrNull(error.code.empty() ? words.code : error.code)}};
  if (error.length) {  // for clients of llama.cpp's server; OpenAI's clients use the code
    body["type"] = "exceed_context_size_error";
    body["n_prompt_tokens"] = error.length->prompt;
    body["n_ctx"] = error.length->context;
  }
  return {{"error", std::move(body)}};
}

Response ToResponse(const ApiError& error) {
  Response response = ErrorResponse(error.status, error.message);
  response.text = Dump(ToJson(error));
  response.error.clear();
  return response;
}

void Shape(Response& response) {
  response.text = Dump(ToJson({.status = response.status, .message = response.error}));
  response.error.clear();
}

}  // namespace wasinn::serve::openai
