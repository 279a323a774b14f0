// Connections to servers.
#ifndef WASINN_BACKENDS_REMOTE_CONNECTION_H_
#define WASINN_BACKENDS_REMOTE_CONNECTION_H_

#include <grpcpp/generic/generic_stub.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "remote/config.h"

namespace wasinn::remote {

// One server, by its address. gRPC connects when a call needs it, and connects again after a connection was lost.
class Connection {
 public:
  Connection(std::string endpoint, const ConnectionConfig& config);

  const std::string& endpoint() const { return endpoint_; }
  grpc::GenericStub& stub() { return stub_; }

 private:
  const std::string endpoint_;
  grpc::GenericStub stub_;
};

// Those of a host, shared by all models of a server. Any thread.
class Connections {
 public:
  std::shared_ptr<Connection> To(const std::string& endpoint, const ConnectionConfig& config);

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, ConnectionConfig>, std::weak_ptr<Connection>> connections_;
};

}  // namespace wasinn::remote

#endif  // WASINN_BACKENDS_REMOTE_CONNECTION_H_
