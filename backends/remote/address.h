// Where a model is served.
#ifndef WASINN_BACKENDS_REMOTE_ADDRESS_H_
#define WASINN_BACKENDS_REMOTE_ADDRESS_H_

#include <string>
#include <string_view>
#include <vector>

namespace wasinn::remote {

// grpc[s]://HOST:PORT[,HOST:PORT…]/MODEL[:VERSION]
struct Address {
  bool is_secure = false;
  std::vector<std::string> endpoints;  // "host:8001", "[::1]:8001"
  std::string model;
  std::string version;  // "": the server chooses
};

// WASINN_INVALID_ENCODING for what is no such address, with what is wrong about it.
Address ParseAddress(std::string_view text);

}  // namespace wasinn::remote

#endif  // WASINN_BACKENDS_REMOTE_ADDRESS_H_
