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

// How a connection is made. Connections of equal settings are shared.
struct ConnectionConfig {
  Transport transport = Transport::kGrpc;
  bool is_secure = false;
  std::string ca, certificate, key;  // PEM; "": the machine's authorities, and no certificate of our own
  std::string server_name;           // that the server's certificate has; "": the host's
  uint32_t max_message_bytes = 0;    // both ways
  uint32_t max_connections = 0;      // to each server, of HTTP
  std::chrono::milliseconds connect_timeout{0};
  auto operator<=>(const ConnectionConfig&) const = default;
};

struct ModelConfig {
  ConnectionConfig connection;
  Headers headers;  // of each call
  bool is_idempotent = false;
  uint32_t retries = 0;
  std::chrono::milliseconds load_timeout{0}, health_interval{0}, health_timeout{0};

  // A model's key beats the same key of [backends.remote]. Reads the files that they name.
  static ModelConfig Parse(const char* backend_text, const char* model_text, Transport transport, bool is_secure);
};

}  // namespace wasinn::remote
