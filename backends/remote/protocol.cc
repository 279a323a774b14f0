#include "remote/protocol.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/config.h"
#include "remote/errors.h"
#include "remote/oip_grpc.h"
#include "remote/oip_http.h"
#include "remote/openai.h"
#include "remote/openai_settings.h"

namespace wasinn::remote {

namespace {

// Such keys are a language model's, which has another address.
const char* LanguageHint(const std::string& key) {
  const bool is_language = std::ranges::any_of(LanguageKeys(), [&](const wasinn_key& one) { return key == one.name; });
  return is_language ? "; a language model's address is http://HOST:PORT/v1/MODEL" : "";
}

}  // namespace

std::unique_ptr<const GuestSettings> Protocol::Configure(const char* guest_config) const {
  const backend::Config config(guest_config, "configuration from the guest");
  for (const std::string& key : config.Keys()) {
    throw backend::Error(
        WASINN_ERROR_INVALID_ARGUMENT,
        fmt::format("backend 'remote' has no key '{}' for guests of this model{}", Quoted(key), LanguageHint(key)));
  }
  return nullptr;
}

backend::Error Protocol::ErrorOf(const Reply& reply) const { return remote::ErrorOf(reply.status); }

std::unique_ptr<Protocol> MakeProtocol(const Address& address, const char* host_config, const backend::Log& log) {
  if (!address.base.empty()) return std::make_unique<OpenAi>(address, host_config, log);
  RefuseLanguageKeys(host_config);
  if (address.transport == Transport::kHttp) return std::make_unique<OipHttp>(address.path);
  return std::make_unique<OipGrpc>(address);
}

}  // namespace wasinn::remote
