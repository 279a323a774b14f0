// The objects of one wasinn host.
#pragma once

#include <wasinn/backend.h>

#include <string>

#include "common/log.h"
#include "remote/connections.h"
#include "remote/health.h"

namespace wasinn::remote {

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
  HealthThread& health() { return health_; }
  const wasinn_backend_info* info() const { return &info_; }

 private:
  const wasinn_host_services services_;
  const backend::Log log_;
  const std::string config_;
  const std::string version_;
  const wasinn_backend_info info_;
  Connections connections_;
  HealthThread health_;
};

}  // namespace wasinn::remote
