#include "settings/outbound_hosts.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <ranges>
#include <utility>

#include "base/number.h"

namespace wasinn::settings {
namespace {

constexpr std::string_view kScheme = "://", kBelow = "*.";
constexpr int kMaxPort = 65535;

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool IsAddress(int family, std::string_view text) {
  unsigned char address[16];
  return text.find('\0') == text.npos && inet_pton(family, std::string(text).c_str(), address) == 1;
}

// A part of a name between dots.
bool IsLabel(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
}

// A name that DNS could know, and that is not written like an address.
bool IsName(std::string_view name) {
  std::string_view last;
  for (const auto part : std::views::split(name, '.')) {
    last = std::string_view(part);
    if (!IsLabel(last)) return false;
  }
  return !std::ranges::all_of(last, [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool IsHost(std::string_view host) {
  if (host.starts_with('[')) return host.ends_with(']') && IsAddress(AF_INET6, host.substr(1, host.size() - 2));
  return IsName(host) || IsAddress(AF_INET, host);
}

bool IsPort(std::string_view text) {
  const auto port = base::ParseNumber<int>(text);
  return port && !text.starts_with('0') && *port <= kMaxPort;
}

std::string_view UsualPort(std::string_view scheme) { return scheme == "http" ? "80" : "443"; }

// "https://a.example.com:8443". Refuses all other parts of a URL, and tricks that hide the real host. `is_host` checks
// the host's part.
std::optional<std::string> ToOrigin(std::string_view text, bool (*is_host)(std::string_view)) {
  std::string origin = Lower(text);
  const size_t found = origin.find(kScheme);
  if (found == origin.npos) return std::nullopt;
  const std::string_view all = origin, scheme = all.substr(0, found);
  if (scheme != "http" && scheme != "https") return std::nullopt;
  const std::string_view authority = all.substr(found + kScheme.size());
  const size_t bracket = authority.rfind(']');  // colons before it are part of an address
  const size_t colon = authority.find(':', bracket == authority.npos ? 0 : bracket);
  if (!is_host(authority.substr(0, colon))) return std::nullopt;
  if (colon == authority.npos) return origin;
  const std::string_view port = authority.substr(colon + 1);
  if (!IsPort(port)) return std::nullopt;
  return port == UsualPort(scheme) ? origin.substr(0, origin.size() - port.size() - 1) : origin;
}

// Compares "https://a.example.com:8443" with "https://*.example.com:8443".
bool IsBelow(std::string_view origin, std::string_view pattern) {
  const size_t found = pattern.find(kBelow);
  if (found == pattern.npos) return false;
  const std::string_view scheme = pattern.substr(0, found), below = pattern.substr(found + kBelow.size() - 1);
  return origin.size() > scheme.size() + below.size() && origin.starts_with(scheme) && origin.ends_with(below);
}

}  // namespace

Parsed<OutboundHosts> OutboundHosts::Parse(std::span<const std::string> list) {
  const auto is_pattern = [](std::string_view host) {
    return host.starts_with(kBelow) ? IsName(host.substr(kBelow.size())) : IsHost(host);
  };
  OutboundHosts hosts;
  for (const std::string& text : list) {
    auto origin = ToOrigin(text, is_pattern);
    if (!origin) {
      return std::unexpected(
          fmt::format("policy.allowed_outbound_hosts: '{}' is not http://HOST or https://HOST, with :PORT or "
                      "without; *.HOST stands for all names below it",
                      text));
    }
    hosts.origins_.push_back(std::move(*origin));
  }
  return hosts;
}

bool OutboundHosts::Allow(std::string_view scheme, std::string_view authority) const {
  const auto origin = ToOrigin(fmt::format("{}://{}", scheme, authority), IsHost);
  return origin && std::ranges::any_of(origins_, [&](const std::string& allowed) {
           return *origin == allowed || IsBelow(*origin, allowed);
         });
}

}  // namespace wasinn::settings
