// The objects of one wasinn host.
#pragma once

#include <wasinn/backend.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "common/log.h"
#include "remote/config.h"
#include "remote/exchange.h"
#include "remote/http_connection.h"

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

// Outlives its models.
class Host {
 public:
  Host(const wasinn_host_services& services, const char* config);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const wasinn_host_services& services() const { return services_; }
  const backend::Log& log() const { return log_; }
  // [backends.remote]: the same keys as models.
  const char* config() const { return config_.c_str(); }
  Connections& connections() { return connections_; }
  const wasinn_backend_info* info() const { return &info_; }

 private:
  const wasinn_host_services services_;
  const backend::Log log_;
  const std::string config_;
  const std::string version_;
  const wasinn_backend_info info_;
  Connections connections_;
};

}  // namespace wasinn::remote
