// What hosts of all frameworks have.
#pragma once

#include <wasinn/backend.h>

#include <string>
#include <utility>

#include "common/log.h"
#include "common/target.h"

namespace wasinn::backend {

// Immutable but for a flag; outlives its models.
class HostBase {
 public:
  HostBase(const HostBase&) = delete;
  HostBase& operator=(const HostBase&) = delete;

  const wasinn_host_services& services() const { return services_; }
  const Log& log() const { return log_; }
  const FallbackWarning& fallback() const { return fallback_; }
  const wasinn_backend_info* info() const { return &info_; }

 protected:
  explicit HostBase(const wasinn_host_services& services) : services_(services), log_(services), fallback_(log_) {}
  ~HostBase() = default;
  // Once the framework is open; as in wasinn_backend_info.
  void Describe(const char* framework, std::string version, std::string library, std::string devices) {
    version_ = std::move(version);
    library_ = std::move(library);
    devices_ = std::move(devices);
    info_ = {sizeof(wasinn_backend_info), framework, version_.c_str(), library_.c_str(), devices_.c_str()};
  }

 private:
  const wasinn_host_services services_;
  const Log log_;
  const FallbackWarning fallback_;
  std::string version_, library_, devices_;
  wasinn_backend_info info_ = {};
};

}  // namespace wasinn::backend
