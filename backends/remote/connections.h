// The connections of a host.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "remote/config.h"
#include "remote/connection.h"
#include "remote/http_loop.h"

namespace wasinn::remote {

// Models on the same server share a connection. Thread-safe.
class Connections {
 public:
  std::shared_ptr<Connection> To(const std::string& endpoint, const ConnectionConfig& config);

 private:
  std::mutex mutex_;
  std::optional<HttpLoop> loop_;  // since the first HTTP server
  std::map<std::pair<std::string, ConnectionConfig>, std::weak_ptr<Connection>> connections_;
};

}  // namespace wasinn::remote
