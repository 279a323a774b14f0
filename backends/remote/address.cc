#include "remote/config.h"

#include <fmt/format.h>
#include <google/protobuf/stubs/common.h>

#include <algorithm>
#include <cstdint>

#include "base/number.h"
#include "common/error.h"

namespace wasinn::remote {

using backend::Error;

namespace {

// More servers would be a mistake.
constexpr size_t kMaxEndpoints = 64;

// Omits the text before the host: it may be a password, and messages go to logs and guests.
std::string WithoutSecrets(std::string_view text) {
  const size_t scheme_end = text.find("://"), at = text.rfind('@');
  if (at == text.npos || scheme_end == text.npos || at < scheme_end) return std::string(text);
  return fmt::format("{}…{}", text.substr(0, scheme_end + 3), text.substr(at));
}

[[noreturn]] void Refuse(std::string_view text, const std::string& why) {
  throw Error(WASINN_ERROR_INVALID_ENCODING,
              fmt::format("'{}': {}; expected grpc://HOST:PORT[,HOST:PORT]/MODEL[:VERSION], grpcs://, "
                          "http://HOST:PORT[,HOST:PORT]/v2/models/MODEL[/versions/VERSION], "
                          "http://HOST:PORT[,HOST:PORT]/v1/MODEL or https://",
                          WithoutSecrets(text), why));
}

bool IsPort(std::string_view text) { return base::ParseNumber<uint16_t>(text).value_or(0) != 0; }

// Refuses hosts that gRPC reads as something else, such as a socket's path.
bool IsHost(std::string_view host) {
  const bool in_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (in_brackets) host = host.substr(1, host.size() - 2);
  return !host.empty() && std::ranges::all_of(host, [&](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || (in_brackets && (c == ':' || c == '%'));
  });
}

// `port`: the invalid port. Messages for guests leave out the address, so the reasons do not repeat its parts.
[[noreturn]] void RefusePort(std::string_view text, std::string_view port) {
  const bool is_number =
      !port.empty() && std::ranges::all_of(port, [](unsigned char c) { return std::isdigit(c) != 0; });
  if (is_number) Refuse(text, fmt::format("port {} is not from 1 to 65535", port));
  Refuse(text, "a server has no port");
}

std::string ParseEndpoint(std::string_view text, std::string_view endpoint) {
  const size_t colon = endpoint.rfind(':');
  const std::string_view host = endpoint.substr(0, colon);
  const std::string_view port = colon == endpoint.npos ? "" : endpoint.substr(colon + 1);
  if (IsPort(port) && IsHost(host)) return std::string(endpoint);
  // Checked before any message that would show a part of the text.
  if (text.find('@') != text.npos) Refuse(text, "put user and password into `headers`, as authorization");
  if (!IsPort(port)) RefusePort(text, port);
  Refuse(text, "a server's name is not a host");
}

std::vector<std::string> ParseEndpoints(std::string_view text, std::string_view hosts) {
  std::vector<std::string> endpoints;
  for (size_t comma = 0; comma != hosts.npos;) {
    comma = hosts.find(',');
    endpoints.push_back(ParseEndpoint(text, hosts.substr(0, comma)));
    if (comma != hosts.npos) hosts.remove_prefix(comma + 1);
    if (endpoints.size() > kMaxEndpoints) Refuse(text, fmt::format("more than {} servers", kMaxEndpoints));
  }
  return endpoints;
}

// "model:2"
void ParseModel(std::string_view text, std::string_view path, Address* address) {
  std::string_view model = path;
  if (const size_t colon = model.rfind(':'); colon != model.npos) {
    address->version = model.substr(colon + 1);
    model = model.substr(0, colon);
    if (address->version.empty()) Refuse(text, "the version is empty");
  }
  if (model.empty()) Refuse(text, "it names no model");
  if (!google::protobuf::internal::IsStructurallyValidUTF8(path.data(), static_cast<int>(path.size()))) {
    Refuse(text, "the model's name is not UTF-8");
  }
  address->model = model;
}

// Accepts only a path that a request can have unchanged: no space, line end or query.
void CheckPath(std::string_view text, std::string_view path) {
  const auto is_wrong = [](unsigned char c) {
    return std::isalnum(c) == 0 &&
           std::string_view("-._~!$&'()*+,;=:@/%").find(static_cast<char>(c)) == std::string_view::npos;
  };
  const auto wrong = std::ranges::find_if(path, is_wrong);
  if (wrong == path.end()) return;
  if (*wrong == '?') Refuse(text, "an address has no query");
  const auto byte = static_cast<unsigned char>(*wrong);
  const std::string shown = byte < 0x20 || byte >= 0x7f ? "a byte" : fmt::format("'{}'", *wrong);
  Refuse(text, fmt::format("the path has {}, which a URL cannot have: write it as %{:02X}", shown, byte));
}

// "org%20name"
std::string Decoded(std::string_view text, std::string_view path) {
  std::string decoded;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '%') {
      decoded += path[i];
      continue;
    }
    const std::string_view digits = path.substr(std::min(i + 1, path.size()), 2);
    const auto byte = base::ParseNumber<unsigned char>(digits, 16).value_or(0);
    if (digits.size() != 2 || byte == 0) Refuse(text, "'%' is not before two digits");
    decoded += static_cast<char>(byte);
    i += 2;
  }
  if (!google::protobuf::internal::IsStructurallyValidUTF8(decoded.data(), static_cast<int>(decoded.size()))) {
    Refuse(text, "the model's name is not UTF-8");
  }
  return decoded;
}

// "v1/org/name:tag". The path before v1 belongs to the server's address.
bool ParseLanguageModel(std::string_view text, std::string_view path, Address* address) {
  constexpr std::string_view kApi = "v1/", kInside = "/v1/";
  const size_t inside = path.find(kInside);
  if (!path.starts_with(kApi) && (path.starts_with("v2/") || inside == path.npos)) return false;
  const size_t base = path.starts_with(kApi) ? kApi.size() : inside + kInside.size();
  const std::string_view model = path.substr(base);
  if (model.empty() || model.ends_with('/')) Refuse(text, "it names no model");
  address->base = fmt::format("/{}", path.substr(0, base - 1));
  address->model = Decoded(text, model);
  address->path = fmt::format("{}/models/{}", address->base, model);
  return true;
}

// "v2/models/model/versions/2"
void ParsePath(std::string_view text, std::string_view path, Address* address) {
  constexpr std::string_view kModels = "v2/models/", kVersions = "/versions/";
  CheckPath(text, path);
  if (ParseLanguageModel(text, path, address)) return;
  if (!path.starts_with(kModels)) Refuse(text, "its path does not begin with /v2/models/ or /v1/");
  std::string_view model = path.substr(kModels.size());
  if (const size_t versions = model.rfind(kVersions); versions != model.npos) {
    address->version = model.substr(versions + kVersions.size());
    model = model.substr(0, versions);
    if (address->version.empty()) Refuse(text, "the version is empty");
  }
  if (model.empty() || model.ends_with('/')) Refuse(text, "it names no model");
  address->model = model;
  address->path = fmt::format("/{}", path);
}

}  // namespace

Address ParseAddress(std::string_view text) {
  Address address;
  const size_t scheme_end = text.find("://");
  if (scheme_end == text.npos) Refuse(text, "it has no scheme");
  std::string scheme(text.substr(0, scheme_end));
  std::ranges::transform(scheme, scheme.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool is_http = scheme == "http" || scheme == "https";
  if (!is_http && scheme != "grpc" && scheme != "grpcs") {
    Refuse(text, fmt::format("'{}' is not a known scheme", scheme));
  }
  address.transport = is_http ? Transport::kHttp : Transport::kGrpc;
  address.is_secure = scheme.ends_with('s');
  const std::string_view rest = text.substr(scheme_end + 3);
  if (rest.find("://") != rest.npos) {
    Refuse(text, fmt::format("write the scheme once: {}://HOST:PORT,HOST:PORT/…", scheme));
  }
  const size_t slash = rest.find('/');
  address.endpoints = ParseEndpoints(text, rest.substr(0, slash));
  const std::string_view path = slash == rest.npos ? std::string_view() : rest.substr(slash + 1);
  is_http ? ParsePath(text, path, &address) : ParseModel(text, path, &address);
  return address;
}

}  // namespace wasinn::remote
