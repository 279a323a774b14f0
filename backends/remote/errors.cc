#include "remote/exchange.h"

#include <fmt/format.h>
#include <google/protobuf/stubs/common.h>

#include <algorithm>
#include <boost/beast/http/status.hpp>
#include <cctype>

#include "base/json.h"

namespace wasinn::remote {

wasinn_code CodeOf(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::OK:
      return WASINN_OK;
    case grpc::CANCELLED:
    case grpc::DEADLINE_EXCEEDED:
      return WASINN_ERROR_TIMEOUT;
    case grpc::UNAVAILABLE:
      return WASINN_ERROR_UNAVAILABLE;
    case grpc::INVALID_ARGUMENT:
      return WASINN_ERROR_INVALID_ARGUMENT;
    case grpc::NOT_FOUND:
      return WASINN_ERROR_NOT_FOUND;
    case grpc::RESOURCE_EXHAUSTED:
      return WASINN_ERROR_TOO_LARGE;
    case grpc::UNIMPLEMENTED:
      return WASINN_ERROR_UNSUPPORTED_OPERATION;
    case grpc::PERMISSION_DENIED:
    case grpc::UNAUTHENTICATED:
      return WASINN_ERROR_SECURITY;
    default:
      return WASINN_ERROR_RUNTIME;
  }
}

std::string Quoted(const std::string& text) {
  constexpr size_t kMax = 1000;
  size_t end = std::min(text.size(), kMax);
  // Cut between characters.
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

namespace {

// Longer texts do not help a guest.
constexpr size_t kMaxRead = 64 << 10, kMaxShown = 2000;

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

bool IsOfWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_'; }

// Replaces whole words only: a host may be called "a".
void ReplaceWord(std::string* text, const std::string& word, std::string_view other) {
  for (size_t at = 0; (at = text->find(word, at)) != std::string::npos;) {
    const size_t end = at + word.size();
    const bool is_whole = (at == 0 || !IsOfWord((*text)[at - 1])) && (end == text->size() || !IsOfWord((*text)[end]));
    if (is_whole) text->replace(at, word.size(), other);
    at += is_whole ? other.size() : word.size();
  }
}

}  // namespace

std::string WithoutAddress(std::string text, const std::string& endpoint) {
  constexpr std::string_view kServer = "the server";
  for (const std::string_view family : {"ipv4:", "ipv6:"}) {
    for (size_t at = 0; (at = text.find(family, at)) != std::string::npos;) {
      const size_t end = text.find_first_of(" ,;", at);
      text.erase(at, end == std::string::npos ? end : end + 1 - at);
    }
  }
  ReplaceWord(&text, endpoint, kServer);
  ReplaceWord(&text, endpoint.substr(0, endpoint.rfind(':')), kServer);
  return text;
}

grpc::Status StatusOf(unsigned code, std::string_view body) {
  if (code >= 200 && code < 300) return grpc::Status::OK;
  if (body.size() <= kMaxRead) {
    if (const std::string words = WordsOf(body); !words.empty()) return {CodeOf(code), words};
  }
  const auto reason = boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(code));
  std::string text = fmt::format("HTTP {} {}", code, std::string_view(reason.data(), reason.size()));
  if (code >= 300 && code < 400) text += ", which is not followed";
  if (!body.empty()) text += fmt::format(": {}", body.substr(0, kMaxShown));
  return {CodeOf(code), text};
}

backend::Error ErrorOf(const grpc::Status& status) {
  const wasinn_code code = CodeOf(status);
  const std::string words = Quoted(status.error_message());
  // The guest is not the cause if the host's key is refused, or if the server no longer has the model.
  if (code == WASINN_ERROR_SECURITY)
    return {WASINN_ERROR_UNAVAILABLE, "the server refuses the host's key or address: " + words};
  if (code == WASINN_ERROR_NOT_FOUND) return {WASINN_ERROR_UNAVAILABLE, "the server does not have the model: " + words};
  return {code, words};
}

}  // namespace wasinn::remote
