#include "serve/routes/cgi_response.h"

#include <boost/beast/core/string.hpp>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "serve/routes/guest_response.h"

namespace wasinn::serve {
namespace {

using boost::beast::iequals;

constexpr size_t kMostHeader = 64u << 10;
constexpr unsigned kFound = 302;

// One line after the other, without its end ("\n", or "\r\n").
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  // False: there is no further whole line.
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

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// "404 Not Found"
unsigned ReadStatus(std::string_view value) {
  unsigned code = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), code);
  const bool is_number = error == std::errc() && (end == value.data() + value.size() || *end == ' ');
  return is_number ? code : 0;  // an invalid one
}

Response Read(std::string output) {
  GuestResponse response;
  Lines lines(std::string_view(output).substr(0, kMostHeader));
  std::string_view line;
  while (true) {
    if (!lines.Next(line)) ThrowInvalid("it wrote no header with an empty line after it");
    if (line.empty()) break;
    const size_t colon = line.find(':');
    if (colon == line.npos) ThrowInvalid("a line of its header has no colon");
    const std::string_view name = line.substr(0, colon), value = Trim(line.substr(colon + 1));
    iequals(name, "Status") ? response.SetStatus(ReadStatus(value)) : response.Add(name, value);
  }
  if (!response.has_status() && !response.has_type() && !response.has_location()) {
    ThrowInvalid("its header has no Content-Type, Status or Location");
  }
  if (response.has_location() && !response.has_status()) response.SetStatus(kFound);
  output.erase(0, static_cast<size_t>(lines.rest().data() - output.data()));
  if (!output.empty() && !response.has_type()) ThrowInvalid("it says no Content-Type");
  return response.Take(std::move(output));
}

}  // namespace

Outcome<Response> ReadCgiResponse(std::string output) {
  try {
    return Read(std::move(output));
  } catch (Failure& failure) {
    return std::unexpected(std::move(failure));
  }
}

}  // namespace wasinn::serve
