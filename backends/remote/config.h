// The address of a model on other servers, and the backend's configuration keys.
#pragma once

#include <wasinn/backend.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "remote/exchange.h"

namespace wasinn::remote {

enum class Transport { kGrpc, kHttp };

// grpc[s]://HOST:PORT[,HOST:PORT…]/MODEL[:VERSION], http[s]://HOST:PORT[,…]/v2/models/MODEL[/versions/VERSION], or for
// a language model http[s]://HOST:PORT[,…]/v1/MODEL
struct Address {
  Transport transport = Transport::kGrpc;
  bool is_secure = false;
  std::vector<std::string> endpoints;  // "host:8001", "[::1]:8001"
  std::string base;                    // "/v1" for language models; "" for others
  std::string path;                    // for HTTP: "/v2/models/MODEL[/versions/VERSION]", "/v1/models/MODEL"
  std::string model;                   // for /v2: as in the path
  std::string version;                 // "": the server chooses
};

// Throws WASINN_ERROR_INVALID_ENCODING with the reason if the text is not such an address.
Address ParseAddress(std::string_view text);

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
