// Where a model is served.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wasinn::remote {

enum class Transport { kGrpc, kHttp };

// grpc[s]://HOST:PORT[,HOST:PORT…]/MODEL[:VERSION], or http[s]://HOST:PORT[,HOST:PORT…]/v2/models/MODEL[/versions/VERSION],
// or of a language model http[s]://HOST:PORT[,HOST:PORT…]/v1/MODEL
struct Address {
  Transport transport = Transport::kGrpc;
  bool is_secure = false;
  std::vector<std::string> endpoints;  // "host:8001", "[::1]:8001"
  std::string base;                    // of language models: "/v1"; "": it is none
  std::string path;                    // of HTTP: "/v2/models/MODEL[/versions/VERSION]", "/v1/models/MODEL"
  std::string model;                   // of /v2: as in the path
  std::string version;                 // "": the server chooses
};

// WASINN_ERROR_INVALID_ENCODING for what is no such address, with what is wrong about it.
Address ParseAddress(std::string_view text);

}  // namespace wasinn::remote
