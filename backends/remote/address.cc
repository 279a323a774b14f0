#include "remote/address.h"

#include <fmt/format.h>
#include <google/protobuf/stubs/common.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "common/error.h"

namespace wasinn::remote {

using backend::Error;

namespace {

// More of them would be a mistake.
constexpr size_t kMostEndpoints = 64;

[[noreturn]] void Refuse(std::string_view text, const std::string& why) {
  throw Error(WASINN_INVALID_ENCODING,
              fmt::format("'{}': {}; expected grpc://HOST:PORT[,HOST:PORT]/MODEL[:VERSION], or grpcs://", text, why));
}

bool IsPort(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port != 0;
}

// What gRPC would read as something else, such as a path of a socket, stays out.
bool IsHost(std::string_view host) {
  const bool in_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (in_brackets) host = host.substr(1, host.size() - 2);
  return !host.empty() && std::ranges::all_of(host, [&](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || (in_brackets && (c == ':' || c == '%'));
  });
}

std::string ParseEndpoint(std::string_view text, std::string_view endpoint) {
  const size_t colon = endpoint.rfind(':');
  if (colon == endpoint.npos || !IsPort(endpoint.substr(colon + 1))) {
    Refuse(text, fmt::format("'{}' has no port", endpoint));
  }
  if (!IsHost(endpoint.substr(0, colon))) Refuse(text, fmt::format("'{}' is no host", endpoint.substr(0, colon)));
  return std::string(endpoint);
}

}  // namespace

Address ParseAddress(std::string_view text) {
  Address address;
  const size_t scheme_end = text.find("://");
  if (scheme_end == text.npos) Refuse(text, "it has no scheme");
  std::string scheme(text.substr(0, scheme_end));
  std::ranges::transform(scheme, scheme.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  address.is_secure = scheme == "grpcs";
  if (scheme != "grpc" && scheme != "grpcs") Refuse(text, fmt::format("'{}' is no scheme that is served", scheme));
  std::string_view rest = text.substr(scheme_end + 3);
  const size_t slash = rest.find('/');
  std::string_view hosts = rest.substr(0, slash);
  for (size_t comma = 0; comma != hosts.npos;) {
    comma = hosts.find(',');
    address.endpoints.push_back(ParseEndpoint(text, hosts.substr(0, comma)));
    if (comma != hosts.npos) hosts.remove_prefix(comma + 1);
    if (address.endpoints.size() > kMostEndpoints) Refuse(text, fmt::format("more than {} servers", kMostEndpoints));
  }
  std::string_view model = slash == rest.npos ? std::string_view() : rest.substr(slash + 1);
  if (const size_t colon = model.rfind(':'); colon != model.npos) {
    address.version = model.substr(colon + 1);
    model = model.substr(0, colon);
    if (address.version.empty()) Refuse(text, "the version is empty");
  }
  if (model.empty()) Refuse(text, "it names no model");
  const std::string_view path = rest.substr(slash + 1);
  if (!google::protobuf::internal::IsStructurallyValidUTF8(path.data(), static_cast<int>(path.size()))) {
    Refuse(text, "the model's name is not UTF-8");
  }
  address.model = model;
  return address;
}

}  // namespace wasinn::remote
