#include "serve/routes/guest_response.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <utility>

namespace wasinn::serve {
namespace {

using boost::beast::iequals;

constexpr size_t kMostFields = 128;

// RFC 9110, section 5.6.2
bool IsToken(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || kMarks.find(c) != kMarks.npos;
  });
}

bool IsValue(std::string_view text) {
  return std::ranges::none_of(text,
                              [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; });
}

// Headers of the connection are the server's, and so is the length.
bool IsConnections(std::string_view name) {
  constexpr std::string_view kNames[] = {"Connection", "Keep-Alive", "Proxy-Connection",  "TE",
                                         "Trailer",    "Upgrade",    "Transfer-Encoding", "Content-Length"};
  return std::ranges::any_of(kNames, [name](std::string_view one) { return iequals(one, name); });
}

bool HasBody(http::status status) {
  return status != http::status::no_content && status != http::status::reset_content &&
         status != http::status::not_modified;
}

}  // namespace

void GuestResponse::SetStatus(unsigned code) {
  if (has_status_) ThrowInvalid("it has two headers Status");
  const http::status status = http::int_to_status(code);
  if (code < 200 || status == http::status::unknown) {
    ThrowInvalid(fmt::format("its status is not a known one from 200 on: {}", code));
  }
  response_.status = status;
  has_status_ = true;
}

void GuestResponse::Add(std::string_view name, std::string_view value) {
  if (!IsToken(name) || !IsValue(value)) ThrowInvalid("a line of its header is not valid");
  if (IsConnections(name)) return;
  if (iequals(name, "Content-Type")) {
    if (has_type_) ThrowInvalid("it has two headers Content-Type");
    has_type_ = true;
    response_.content_type = value;
    return;
  }
  if (iequals(name, "Location")) {
    if (has_location_) ThrowInvalid("it has two headers Location");
    has_location_ = true;
  }
  if (response_.headers.size() == kMostFields) ThrowInvalid(fmt::format("it has more than {} headers", kMostFields));
  response_.headers.emplace_back(name, value);
}

bool GuestResponse::has_events() const {
  const std::string type = response_.content_type.substr(0, response_.content_type.find_first_of("; \t"));
  return HasBody(response_.status) && (iequals(type, "text/event-stream") || iequals(type, "application/x-ndjson"));
}

Response GuestResponse::Take(std::string body) {
  if (HasBody(response_.status)) response_.text = std::move(body);
  return std::move(response_);
}

}  // namespace wasinn::serve
