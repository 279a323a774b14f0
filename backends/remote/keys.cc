// The keys of the backend's table, apart from what reads them: the library that hosts open to learn them has no gRPC and no
// OpenSSL.
#include <iterator>
#include <vector>

#include "remote/config.h"
#include "remote/openai_settings.h"

namespace wasinn::remote {

namespace {

constexpr uint32_t kBoth = WASINN_KEY_BACKEND | WASINN_KEY_MODEL;

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
