// The keys of the backend's table, apart from the code that reads them: the library that hosts open to list keys links
// neither gRPC nor OpenSSL.
#include <iterator>
#include <vector>

#include "remote/config.h"
#include "remote/openai_settings.h"

namespace wasinn::remote {

namespace {

constexpr uint32_t kBoth = WASINN_KEY_BACKEND | WASINN_KEY_MODEL;

constexpr wasinn_key kKeys[] = {
    {"ca", kBoth, "absolute path of the certificate authorities (PEM) that may sign servers; default: the machine's"},
    {"cert", kBoth, "absolute path of the client certificate (PEM) for servers; with key"},
    {"key", kBoth, "absolute path of that certificate's private key (PEM)"},
    {"server_name", kBoth, "the name that a server's certificate must have; default: the address's host"},
    {"headers", kBoth, "table of headers of each call, {authorization = \"Bearer …\"}"},
    {"idempotent", kBoth, "true: a request may be computed twice, so lost calls are repeated; default false"},
    {"retries", kBoth, "most repetitions of a call of an idempotent model: 0 to 16, default 2"},
    {"max_message_bytes", kBoth, "most bytes of one request or answer; default 64 MiB"},
    {"connect_timeout_ms", kBoth, "how long connecting may take; default 5000"},
    {"load_timeout_ms", kBoth, "how long all servers together may take to describe a model at load; default 30000"},
    {"max_connections", kBoth, "most connections to one HTTP server, each with one call; more calls wait; default 256"},
    {"health_interval_ms", kBoth, "time between two checks of each of several servers; default 1000"},
    {"health_timeout_ms", kBoth,
     "how long a check may take; after two late checks a server is unhealthy; default 1000"},
};

}  // namespace

std::span<const wasinn_key> Keys() {
  static const std::vector<wasinn_key> keys = [] {
    std::vector<wasinn_key> all(std::begin(kKeys), std::end(kKeys));
    all.insert(all.end(), LanguageKeys().begin(), LanguageKeys().end());
    return all;
  }();
  return keys;
}

}  // namespace wasinn::remote
