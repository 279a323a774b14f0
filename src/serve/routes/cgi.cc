
#include <fmt/format.h>
#include <simdjson.h>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <boost/beast/core/string.hpp>
#include <wasinn/wasinn.hpp>

#include <algorithm>
#include <map>
#include <string_view>

#include "base/number.h"
#include "serve/routes/guest_response.h"

namespace wasinn::serve {
namespace {

bool IsUtf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

// "X-Trace" is "HTTP_X_TRACE". "": no variable, for a name that another header could imitate, and for Proxy, which
// programs take for their own setting (CVE-2016-5385).
std::string VariableOf(std::string_view header) {
  std::string name = "HTTP_";
  for (const char c : header) {
    const bool is_lower = c >= 'a' && c <= 'z';
    if (!is_lower && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '-') return "";
    name += c == '-' ? '_' : is_lower ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return name == "HTTP_PROXY" ? "" : name;
}

// Belongs to the connection, or to the transfer of the body: a guest gets the plain body.
bool IsOfTravel(http::field name) {
  constexpr http::field kNames[] = {http::field::connection,       http::field::content_length,
                                    http::field::content_type,     http::field::expect,
                                    http::field::keep_alive,       http::field::te,
                                    http::field::trailer,          http::field::transfer_encoding,
                                    http::field::proxy_connection, http::field::upgrade};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

// One variable for each name, even if a header comes several times.
void AddHeaders(const Header& request, Variables& variables) {
  std::map<std::string, std::string> headers;
  for (const auto& field : request) {
    if (IsOfTravel(field.name())) continue;
    const std::string_view value = AsText(field.value());
    if (!IsUtf8(value)) ThrowInvalid("the header {} is not UTF-8", AsText(field.name_string()));
    const std::string name = VariableOf(AsText(field.name_string()));
    if (name.empty()) continue;
    const auto [found, is_new] = headers.try_emplace(name, value);
    if (!is_new) (found->second += name == "HTTP_COOKIE" ? "; " : ", ") += value;
  }
  variables.insert(variables.end(), headers.begin(), headers.end());
}

// Host header's name, without the port.
std::string HostOf(const Header& request, const Ends& ends) {
  const std::string_view host = AsText(request[http::field::host]);
  const size_t colon = host.rfind(':');
  const bool has_port = colon != host.npos && host.find_first_not_of("0123456789", colon + 1) == host.npos;
  if (!host.empty()) return std::string(has_port ? host.substr(0, colon) : host);
  return ends.server.address().to_string();
}

using boost::beast::iequals;

constexpr size_t kMaxHeader = 64u << 10;
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

// "404 Not Found"
unsigned ReadStatus(std::string_view value) {
  return base::ParseNumber<unsigned>(value.substr(0, value.find(' '))).value_or(0);  // an invalid one
}

}  // namespace

Response ReadCgiResponse(std::string output) {
  GuestResponse response;
  Lines lines(std::string_view(output).substr(0, kMaxHeader));
  std::string_view line;
  while (true) {
    if (!lines.Next(line)) ThrowInvalid("it wrote no header with an empty line after it");
    if (line.empty()) break;
    const size_t colon = line.find(':');
    if (colon == line.npos) ThrowInvalid("a line of its header has no colon");
    const std::string_view name = line.substr(0, colon);
    const std::string value =
        boost::algorithm::trim_copy_if(std::string(line.substr(colon + 1)), boost::is_any_of(" \t"));
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

Variables CgiVariables(const Header& request, const std::string& route, const std::string& path, uint64_t body_bytes,
                       const Ends& ends) {
  if (request.count(http::field::content_type) > 1) ThrowInvalid("two headers Content-Type");
  const std::string_view target = AsText(request.target());
  const size_t question = target.find('?');
  const bool is_root = route == "/";
  Variables variables = {{"GATEWAY_INTERFACE", "CGI/1.1"},
                         {"SERVER_SOFTWARE", fmt::format("wasinn/{}", wasinn_version())},
                         {"SERVER_PROTOCOL", fmt::format("HTTP/{}.{}", request.version() / 10, request.version() % 10)},
                         {"SERVER_NAME", HostOf(request, ends)},
                         {"SERVER_PORT", std::to_string(ends.server.port())},
                         {"REMOTE_ADDR", ends.client.address().to_string()},
                         {"REMOTE_PORT", std::to_string(ends.client.port())},
                         {"REQUEST_METHOD", std::string(AsText(request.method_string()))},
                         {"REQUEST_URI", std::string(target)},
                         {"SCRIPT_NAME", is_root ? "" : route},
                         {"PATH_INFO", is_root ? path : path.substr(route.size())},
                         {"QUERY_STRING", question == target.npos ? "" : std::string(target.substr(question + 1))}};
  if (ends.is_secure) variables.emplace_back("HTTPS", "on");  // as in Apache
  if (body_bytes > 0) variables.emplace_back("CONTENT_LENGTH", std::to_string(body_bytes));
  const std::string_view type = AsText(request[http::field::content_type]);
  if (!IsUtf8(type)) ThrowInvalid("the header Content-Type is not UTF-8");
  if (!type.empty()) variables.emplace_back("CONTENT_TYPE", type);
  AddHeaders(request, variables);
  const bool all_utf8 = std::ranges::all_of(variables, [](const auto& one) { return IsUtf8(one.second); });
  if (!all_utf8) ThrowInvalid("the request line is not UTF-8");
  return variables;
}

}  // namespace wasinn::serve
