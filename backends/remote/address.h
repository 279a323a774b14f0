// The address of a model on other servers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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

}  // namespace wasinn::remote
