#include "serve/http/http_message.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>
#include <utility>

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

namespace {

bool HasEncoded(std::string_view word, std::string_view what) {
  for (size_t at = word.find('%'); at != word.npos; at = word.find('%', at + 1)) {
    if (boost::beast::iequals(word.substr(at, what.size()), what)) return true;
  }
  return false;
}

bool IsOneWord(std::string_view encoded) {
  const std::string word = boost::urls::pct_string_view(encoded).decode();
  const bool has_control = std::ranges::any_of(word, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  return !word.empty() && word != "." && word != ".." && !has_control && !HasEncoded(encoded, "%2f") &&
         !HasEncoded(encoded, "%5c") && !HasEncoded(encoded, "%2e") &&
         simdjson::validate_utf8(word.data(), word.size());
}

}  // namespace

std::string CanonicalTarget(std::string_view target) {
  const auto parsed = boost::urls::parse_origin_form(target);
  if (!parsed) ThrowInvalid("the target is not a path");
  // Not the URL's segments, which would drop a "/." at the beginning of a path.
  const std::string_view path = target.substr(0, target.find('?'));
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at + 1), path.size());
    const std::string_view word = path.substr(at + 1, end - at - 1);
    at = end;
    const bool is_end = word.empty() && end == path.size();
    if (is_end || IsOneWord(word)) continue;
    ThrowInvalid(
        "the target's path has a word that could mean two things: '.', '..', none ('//'), one with an encoded "
        "'/', '\\' or '.' or a control character, or one that is not UTF-8");
  }
  boost::urls::url canonical(*parsed);
  canonical.normalize_path();
  return std::string(canonical.buffer());
}

std::vector<std::string> PathWords(std::string_view target) {
  std::vector<std::string> words;
  const auto url = boost::urls::parse_origin_form(target);
  if (!url) return words;
  for (const auto segment : url->segments()) {
    if (std::string word = segment; !word.empty()) words.push_back(std::move(word));
  }
  return words;
}

std::string PathOf(const Header& request) {
  std::string path;
  for (const std::string& word : PathWords({request.target().data(), request.target().size()})) path += "/" + word;
  return path.empty() ? "/" : path;
}

}  // namespace wasinn::serve
