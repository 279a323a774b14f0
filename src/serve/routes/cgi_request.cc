#include "serve/routes/cgi_request.h"

#include <fmt/format.h>
#include <simdjson.h>
#include <wasinn/wasinn.hpp>

#include <algorithm>
#include <map>
#include <string_view>

namespace wasinn::serve {
namespace {

bool IsUtf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

std::string_view ToView(boost::beast::string_view text) { return {text.data(), text.size()}; }

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
Outcome<void> AddHeaders(const Header& request, Variables& variables) {
  std::map<std::string, std::string> headers;
  for (const auto& field : request) {
    if (IsOfTravel(field.name())) continue;
    const std::string_view value = ToView(field.value());
    if (!IsUtf8(value))
      return std::unexpected(Invalid(fmt::format("the header {} is not UTF-8", ToView(field.name_string()))));
    const std::string name = VariableOf(ToView(field.name_string()));
    if (name.empty()) continue;
    const auto [found, is_new] = headers.try_emplace(name, value);
    if (!is_new) (found->second += name == "HTTP_COOKIE" ? "; " : ", ") += value;
  }
  variables.insert(variables.end(), headers.begin(), headers.end());
  return {};
}

// Host header's name, without the port.
std::string HostOf(const Header& request, const Ends& ends) {
  const std::string_view host = ToView(request[http::field::host]);
  const size_t colon = host.rfind(':');
  const bool has_port = colon != host.npos && host.find_first_not_of("0123456789", colon + 1) == host.npos;
  if (!host.empty()) return std::string(has_port ? host.substr(0, colon) : host);
  return ends.server.address().to_string();
}

}  // namespace

Outcome<Variables> CgiVariables(const Header& request, const std::string& route, const std::string& path,
                                uint64_t body_bytes, const Ends& ends) {
  if (request.count(http::field::content_type) > 1) return std::unexpected(Invalid("two headers Content-Type"));
  const std::string_view target = ToView(request.target());
  const size_t question = target.find('?');
  const bool is_root = route == "/";
  Variables variables = {{"GATEWAY_INTERFACE", "CGI/1.1"},
                         {"SERVER_SOFTWARE", fmt::format("wasinn/{}", wasinn_version())},
                         {"SERVER_PROTOCOL", fmt::format("HTTP/{}.{}", request.version() / 10, request.version() % 10)},
                         {"SERVER_NAME", HostOf(request, ends)},
                         {"SERVER_PORT", std::to_string(ends.server.port())},
                         {"REMOTE_ADDR", ends.client.address().to_string()},
                         {"REMOTE_PORT", std::to_string(ends.client.port())},
                         {"REQUEST_METHOD", std::string(ToView(request.method_string()))},
                         {"REQUEST_URI", std::string(target)},
                         {"SCRIPT_NAME", is_root ? "" : route},
                         {"PATH_INFO", is_root ? path : path.substr(route.size())},
                         {"QUERY_STRING", question == target.npos ? "" : std::string(target.substr(question + 1))}};
  if (ends.is_secure) variables.emplace_back("HTTPS", "on");  // as in Apache
  if (body_bytes > 0) variables.emplace_back("CONTENT_LENGTH", std::to_string(body_bytes));
  const std::string_view type = ToView(request[http::field::content_type]);
  if (!IsUtf8(type)) return std::unexpected(Invalid("the header Content-Type is not UTF-8"));
  if (!type.empty()) variables.emplace_back("CONTENT_TYPE", type);
  if (auto added = AddHeaders(request, variables); !added) return std::unexpected(std::move(added.error()));
  const bool all_utf8 = std::ranges::all_of(variables, [](const auto& one) { return IsUtf8(one.second); });
  if (!all_utf8) return std::unexpected(Invalid("the request line is not UTF-8"));
  return variables;
}

}  // namespace wasinn::serve
