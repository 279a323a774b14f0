#include "serve/http/origins.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/url/authority_view.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <cctype>
#include <ranges>

namespace wasinn::serve {
namespace {

namespace urls = boost::urls;

constexpr size_t kMaxOfOrigin = 200;  // of an origin, in an error

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// "example.com" and "80", or "".
struct Authority {
  std::string host, port;
  bool is_address = false;
};

Authority ToAuthority(const urls::authority_view& view) {
  return {Lower(std::string(view.encoded_host())), std::string(view.port()),
          view.host_type() != urls::host_type::name && view.host_type() != urls::host_type::none};
}

std::optional<Authority> ReadHost(const Header& request) {
  const auto parsed = urls::parse_authority(AsText(request[http::field::host]));
  if (!parsed || parsed->has_userinfo() || parsed->host_type() == urls::host_type::none) return std::nullopt;
  return ToAuthority(*parsed);
}

std::string_view DefaultPort(std::string_view scheme) {
  return scheme == "http" ? "80" : scheme == "https" ? "443" : "";
}

std::string WithPort(const std::string& host, std::string_view port, std::string_view scheme) {
  return port.empty() || port == DefaultPort(scheme) ? host : fmt::format("{}:{}", host, port);
}

// An address, or this machine by name: no DNS answer of an attacker's leads there.
bool CannotBeRebound(const Authority& host) {
  return host.is_address || host.host == "localhost" || host.host.ends_with(".localhost");
}

// Whether a page of `origin` came from the server of its request.
bool IsSameOrigin(std::string_view origin, const Authority& host) {
  return std::ranges::any_of(std::array<std::string_view, 2>{"http", "https"}, [&](std::string_view scheme) {
    return origin == fmt::format("{}://{}", scheme, WithPort(host.host, host.port, scheme));
  });
}

bool IsSafeMethod(const Header& request) {
  return request.method() == http::verb::get || request.method() == http::verb::head;
}

// A browser's question before it sends a request that a form could not.
bool IsPreflight(const Header& request) {
  return request.method() == http::verb::options && request.count(http::field::access_control_request_method) > 0;
}

Response AnswerPreflight(const Header& request) {
  Response response{.status = http::status::no_content, .content_type = ""};
  response.headers = {
      {"Access-Control-Allow-Methods", std::string(AsText(request[http::field::access_control_request_method]))},
      {"Access-Control-Max-Age", "600"}};
  const std::string_view headers = AsText(request[http::field::access_control_request_headers]);
  if (!headers.empty()) response.headers.emplace_back("Access-Control-Allow-Headers", headers);
  return response;
}

// A guest's own headers stay.
void AddCorsHeaders(Response& response, std::string_view origin) {
  const bool is_set = std::ranges::any_of(response.headers, [](const auto& header) {
    return boost::beast::iequals(header.first, "Access-Control-Allow-Origin");
  });
  if (is_set) return;
  response.headers.emplace_back("Access-Control-Allow-Origin", origin);
  response.headers.emplace_back("Access-Control-Expose-Headers", "Inference-Header-Content-Length, Retry-After");
  response.headers.emplace_back("Vary", "Origin");
}

}  // namespace

std::string ParseOrigin(std::string_view text) {
  if (text == "*") return std::string(text);
  const auto url = urls::parse_absolute_uri(text);
  const bool is_origin = url && url->has_authority() && !url->has_userinfo() && url->encoded_path().empty() &&
                         !url->has_query() && !url->host().empty() && (!url->has_port() || url->port_number() != 0);
  if (!is_origin) {
    ThrowInvalid("'{}' is not an origin: SCHEME://HOST or SCHEME://HOST:PORT, or *", text);
  }
  const std::string scheme = Lower(std::string(url->scheme()));
  const Authority authority = ToAuthority(url->authority());
  return fmt::format("{}://{}", scheme, WithPort(authority.host, authority.port, scheme));
}

bool Origins::IsOwnHost(const Header& request) const {
  if (request.count(http::field::host) == 0) return true;  // no browser
  const std::optional<Authority> host = ReadHost(request);
  if (!host) return false;
  return CannotBeRebound(*host) || allowed_.contains("*") ||
         std::ranges::any_of(allowed_, [&](const std::string& origin) { return IsSameOrigin(origin, *host); });
}

bool Origins::IsAllowedPreflight(const Header& request) const {
  return IsPreflight(request) && request.count(http::field::origin) == 1 &&
         IsAllowed(Lower(AsText(request[http::field::origin])));
}

asio::awaitable<Response> Origins::Guard(Exchange& exchange, Next next) const {
  const Header& request = exchange.request;
  const std::string origin = Lower(AsText(request[http::field::origin]));
  const bool is_allowed = request.count(http::field::origin) == 1 && IsAllowed(origin);
  if (is_allowed && IsPreflight(request)) {
    Response response = AnswerPreflight(request);
    AddCorsHeaders(response, origin);
    co_return response;
  }
  const std::optional<Authority> host = ReadHost(request);
  const bool is_own = host && CannotBeRebound(*host) && IsSameOrigin(origin, *host);
  if (!is_allowed && !is_own && !IsSafeMethod(request)) {
    co_return ErrorResponse(
        http::status::forbidden,
        fmt::format("pages of {} may not send requests to this server: --allow-origin allows a site",
                    origin.substr(0, kMaxOfOrigin)));
  }
  Response response = co_await next(exchange);
  if (is_allowed) AddCorsHeaders(response, origin);
  co_return response;
}

}  // namespace wasinn::serve
