#include "serve/cgi_response.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

namespace wasinn::serve {
namespace {

using boost::beast::iequals;

constexpr size_t kMostHeader = 64u << 10, kMostFields = 128;

// One line after the other, without its end ("\n", or "\r\n").
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  // False: there is no whole line any more.
  bool Next(std::string_view& line) {
    const size_t end = rest_.find('\n');
    if (end == rest_.npos) return false;
    line = rest_.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    rest_.remove_prefix(end + 1);
    return true;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

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

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// Those of a connection, which are the server's, and the length, which is what it is.
bool IsConnections(std::string_view name) {
  constexpr std::string_view kNames[] = {"Connection", "Keep-Alive", "Proxy-Connection",  "TE",
                                         "Trailer",    "Upgrade",    "Transfer-Encoding", "Content-Length"};
  return std::ranges::any_of(kNames, [name](std::string_view one) { return iequals(one, name); });
}

// "404 Not Found"
http::status ReadStatus(std::string_view value) {
  unsigned code = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), code);
  const bool is_number = error == std::errc() && (end == value.data() + value.size() || *end == ' ');
  const http::status status = http::int_to_status(code);
  if (!is_number || code < 200 || status == http::status::unknown) {
    ThrowInvalid(fmt::format("its Status is no known one from 200 on: '{}'", value.substr(0, 32)));
  }
  return status;
}

class HeaderReader {
 public:
  Response Read(std::string output);

 private:
  void Add(std::string_view name, std::string_view value);
  // Of what there may be one.
  void SetOnce(bool& is_set, std::string_view name) const {
    if (is_set) ThrowInvalid(fmt::format("it has two headers {}", name));
    is_set = true;
  }

  Response response_{.content_type = ""};
  bool has_status_ = false, has_type_ = false, has_location_ = false;
};

void HeaderReader::Add(std::string_view name, std::string_view value) {
  if (!IsToken(name) || !IsValue(value)) ThrowInvalid("a line of its header is none");
  if (iequals(name, "Status")) {
    SetOnce(has_status_, name);
    response_.status = ReadStatus(value);
  } else if (iequals(name, "Content-Type")) {
    SetOnce(has_type_, name);
    response_.content_type = value;
  } else if (!IsConnections(name)) {
    if (iequals(name, "Location")) SetOnce(has_location_, name);
    if (response_.headers.size() == kMostFields) ThrowInvalid(fmt::format("it has more than {} headers", kMostFields));
    response_.headers.emplace_back(name, value);
  }
}

Response HeaderReader::Read(std::string output) {
  Lines lines(std::string_view(output).substr(0, kMostHeader));
  std::string_view line;
  while (true) {
    if (!lines.Next(line)) ThrowInvalid("it wrote no header with an empty line after it");
    if (line.empty()) break;
    const size_t colon = line.find(':');
    if (colon == line.npos) ThrowInvalid("a line of its header has no colon");
    Add(line.substr(0, colon), Trim(line.substr(colon + 1)));
  }
  if (!has_status_ && !has_type_ && !has_location_) ThrowInvalid("its header has no Content-Type, Status or Location");
  if (has_location_ && !has_status_) response_.status = http::status::found;
  output.erase(0, static_cast<size_t>(lines.rest().data() - output.data()));
  if (!output.empty() && !has_type_) ThrowInvalid("it says no Content-Type");
  const bool has_body = response_.status != http::status::no_content &&
                        response_.status != http::status::reset_content &&
                        response_.status != http::status::not_modified;
  if (has_body) response_.text = std::move(output);
  return std::move(response_);
}

}  // namespace

Outcome<Response> ReadCgiResponse(std::string output) {
  try {
    return HeaderReader().Read(std::move(output));
  } catch (Failure& failure) {
    return std::unexpected(std::move(failure));
  }
}

}  // namespace wasinn::serve
