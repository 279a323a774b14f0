// The backend's configuration keys.
#pragma once

#include <wasinn/backend.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "remote/address.h"
#include "remote/exchange.h"

namespace wasinn::remote {

std::span<const wasinn_key> Keys();

// The settings of a connection. Connections with equal settings are shared.
struct ConnectionConfig {
  Transport transport = Transport::kGrpc;
  bool is_secure = false;
  std::string ca, certificate, key;  // PEM; "": the machine's authorities, and no client certificate
  std::string server_name;           // the name in the server's certificate; "": the host
  uint32_t max_message_bytes = 0;    // in both directions
  uint32_t max_connections = 0;      // for HTTP: to each server
  std::chrono::milliseconds connect_timeout{0};
  auto operator<=>(const ConnectionConfig&) const = default;
};

struct ModelConfig {
  ConnectionConfig connection;
  Headers headers;  // added to each call
  bool is_idempotent = false;
  uint32_t retries = 0;
  std::chrono::milliseconds load_timeout{0}, health_interval{0}, health_timeout{0};

  // A model's key overrides [backends.remote]'s. Reads the files that keys name.
  static ModelConfig Parse(const char* backend_text, const char* model_text, Transport transport, bool is_secure);
};

}  // namespace wasinn::remote
