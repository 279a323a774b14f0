#include "remote/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <fstream>
#include <iterator>
#include <string_view>

#include "common/config.h"
#include "common/error.h"
#include "remote/openai_settings.h"

namespace wasinn::remote {

using backend::Config;
using backend::Error;

namespace {

constexpr uint32_t kBoth = WASINN_KEY_BACKEND | WASINN_KEY_MODEL;
constexpr int64_t kMegabyte = int64_t{1} << 20;
constexpr int64_t kMostMilliseconds = 24 * 60 * 60 * 1000;

constexpr wasinn_key kKeys[] = {
    {"ca", kBoth,
     "absolute path of the authorities (PEM) that a server's certificate must come from; default: the machine's"},
    {"cert", kBoth, "absolute path of the certificate (PEM) that is shown to servers; with key"},
    {"key", kBoth, "absolute path of that certificate's private key (PEM)"},
    {"server_name", kBoth, "the name that a server's certificate must have, in place of the address's host"},
    {"headers", kBoth, "table of headers that each call has, {authorization = \"Bearer …\"}"},
    {"idempotent", kBoth,
     "true: the model may compute twice what was asked once, so calls that were lost are made again; default false"},
    {"retries", kBoth, "how often a call of an idempotent model is made again at most: 0 to 16, default 2"},
    {"max_message_bytes", kBoth, "bytes of one request or answer at most; default 64 MiB"},
    {"connect_timeout_ms", kBoth, "how long a connection may take to be made; default 5000"},
    {"load_timeout_ms", kBoth, "how long servers may take in all to tell of a model when it is loaded; default 30000"},
    {"max_connections", kBoth,
     "connections to a server of HTTP at most, each with one call; more calls wait; default 256"},
    {"health_interval_ms", kBoth, "time between two checks of each of several servers; default 1000"},
    {"health_timeout_ms", kBoth, "how long a check may take; two that take longer make a server ill; default 1000"},
};

// A model's key, or else the backend's.
class Merged {
 public:
  Merged(const Config& model, const Config& backend) : model_(model), backend_(backend) {}

  const Config& With(const char* key) const { return model_.Has(key) ? model_ : backend_; }
  std::chrono::milliseconds Milliseconds(const char* key, int64_t usual) const {
    return std::chrono::milliseconds(With(key).Integer(key, 1, kMostMilliseconds).value_or(usual));
  }
  // What a file has; "" if no key names one.
  std::string Contents(const char* key) const {
    const auto path = With(key).AbsolutePath(key);
    if (!path) return "";
    std::ifstream file(*path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file || text.empty()) {
      throw Error(WASINN_INVALID_ARGUMENT, fmt::format("key '{}': cannot read '{}'", key, *path));
    }
    return text;
  }

 private:
  const Config &model_, &backend_;
};

// A model whose own keys say how a connection is secured must have one. [backends.remote] is for others, too.
void CheckSecurity(const Config& model, bool is_secure) {
  if (is_secure) return;
  for (const char* key : {"ca", "cert", "key", "server_name"}) {
    if (!model.Has(key)) continue;
    throw Error(WASINN_INVALID_ARGUMENT,
                fmt::format("key '{}' is for connections with TLS: expected an address that begins with grpcs:// or "
                            "https://",
                            key));
  }
}

// What says where a message of HTTP ends, and what is in it.
constexpr std::string_view kOwnHeaders[] = {"accept-encoding",
                                            "connection",
                                            "content-encoding",
                                            "content-length",
                                            "content-type",
                                            "expect",
                                            "host",
                                            "inference-header-content-length",
                                            "keep-alive",
                                            "proxy-connection",
                                            "te",
                                            "trailer",
                                            "transfer-encoding",
                                            "upgrade"};

// gRPC ends the program at a header that HTTP/2 does not allow.
void CheckHeader(const std::string& name, const std::string& value, Transport transport) {
  const bool is_name = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  });
  const bool is_free = transport == Transport::kGrpc ? !name.starts_with("grpc-") && !name.ends_with("-bin")
                                                     : std::ranges::find(kOwnHeaders, name) == std::end(kOwnHeaders);
  const bool is_value = std::ranges::all_of(value, [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
  if (is_name && is_free && is_value) return;
  throw Error(WASINN_INVALID_ARGUMENT,
              fmt::format("key 'headers': '{}' is no header that calls may have: expected a name in lower case that is "
                          "not the protocol's own, and plain ASCII",
                          name));
}

ConnectionConfig ParseConnection(const Merged& merged, Transport transport, bool is_secure) {
  ConnectionConfig parsed;
  parsed.transport = transport;
  parsed.is_secure = is_secure;
  parsed.ca = merged.Contents("ca");
  parsed.certificate = merged.Contents("cert");
  parsed.key = merged.Contents("key");
  parsed.server_name = merged.With("server_name").String("server_name").value_or("");
  if (parsed.certificate.empty() != parsed.key.empty()) {
    throw Error(WASINN_INVALID_ARGUMENT, "keys 'cert' and 'key' go together: expected both or none");
  }
  parsed.max_message_bytes = static_cast<uint32_t>(
      merged.With("max_message_bytes").Integer("max_message_bytes", 1024, INT_MAX).value_or(64 * kMegabyte));
  // gRPC's connections have many calls each, and are shared whatever this says.
  const auto connections = merged.With("max_connections").Integer("max_connections", 1, 65536).value_or(256);
  if (transport == Transport::kHttp) parsed.max_connections = static_cast<uint32_t>(connections);
  parsed.connect_timeout = merged.Milliseconds("connect_timeout_ms", 5000);
  return parsed;
}

}  // namespace

std::span<const wasinn_key> Keys() {
  static const std::vector<wasinn_key> keys = [] {
    std::vector<wasinn_key> all(std::begin(kKeys), std::end(kKeys));
    all.insert(all.end(), LanguageKeys().begin(), LanguageKeys().end());
    return all;
  }();
  return keys;
}

ModelConfig ModelConfig::Parse(const char* backend_text, const char* model_text, Transport transport, bool is_secure) {
  const Config backend(backend_text, "[backends.remote]");
  const Config model(model_text, "configuration of the model");
  const Merged merged(model, backend);
  CheckSecurity(model, is_secure);
  ModelConfig parsed;
  parsed.connection = ParseConnection(merged, transport, is_secure);
  parsed.headers = merged.With("headers").Strings("headers").value_or(Config::Entries());
  for (const auto& [name, value] : parsed.headers) CheckHeader(name, value, transport);
  parsed.is_idempotent = merged.With("idempotent").Bool("idempotent").value_or(false);
  parsed.retries = static_cast<uint32_t>(merged.With("retries").Integer("retries", 0, 16).value_or(2));
  parsed.load_timeout = merged.Milliseconds("load_timeout_ms", 30'000);
  parsed.health_interval = merged.Milliseconds("health_interval_ms", 1000);
  parsed.health_timeout = merged.Milliseconds("health_timeout_ms", 1000);
  return parsed;
}

}  // namespace wasinn::remote
