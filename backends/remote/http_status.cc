#include "remote/http_status.h"

#include <fmt/format.h>

#include <boost/beast/http/status.hpp>
#include <string>

#include "base/json.h"

namespace wasinn::remote {

namespace {

// Longer bodies tell a guest nothing.
constexpr size_t kMostRead = 64 << 10, kMostShown = 2000;

grpc::StatusCode CodeOf(unsigned code) {
  switch (code) {
    case 400:
    case 422:
      return grpc::INVALID_ARGUMENT;
    case 401:
    case 403:
      return grpc::PERMISSION_DENIED;
    case 404:
      return grpc::NOT_FOUND;
    case 413:
      return grpc::RESOURCE_EXHAUSTED;
    case 429:
    case 502:
    case 503:
      return grpc::UNAVAILABLE;
    case 501:
      return grpc::UNIMPLEMENTED;
    case 504:
      return grpc::DEADLINE_EXCEEDED;
    default:
      return grpc::INTERNAL;
  }
}

// {"error": "…"}, {"error": {"message": "…"}}, and FastAPI's {"detail": "…"}. "": none of them.
std::string WordsOf(std::string_view body) {
  const auto json = base::ParseJson(body);
  if (!json.is_object()) return "";
  for (const char* key : {"error", "detail", "message"}) {
    const auto found = json.find(key);
    if (found == json.end()) continue;
    if (found->is_string()) return found->get<std::string>();
    if (found->is_object() && found->contains("message") && found->at("message").is_string()) {
      return found->at("message").get<std::string>();
    }
  }
  return "";
}

}  // namespace

grpc::Status StatusOf(unsigned code, std::string_view body) {
  if (code >= 200 && code < 300) return grpc::Status::OK;
  if (body.size() <= kMostRead) {
    if (const std::string words = WordsOf(body); !words.empty()) return {CodeOf(code), words};
  }
  const auto reason = boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(code));
  std::string text = fmt::format("HTTP {} {}", code, std::string_view(reason.data(), reason.size()));
  if (code >= 300 && code < 400) text += ", which is not followed";
  if (!body.empty()) text += fmt::format(": {}", body.substr(0, kMostShown));
  return {CodeOf(code), text};
}

}  // namespace wasinn::remote
