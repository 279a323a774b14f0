// What one wasinn host has opened: OpenVINO, a core, configuration.
#pragma once

#include <wasinn/backend.h>

#include <string>
#include <vector>

#include "common/log.h"
#include "common/target.h"
#include "openvino/config.h"
#include "openvino/ov_library.h"

namespace wasinn::openvino {

// Immutable but for a flag; outlives its models.
class Host {
 public:
  Host(const wasinn_host_services& services, const char* config);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const wasinn_host_services& services() const { return services_; }
  const backend::Log& log() const { return log_; }
  const BackendConfig& config() const { return config_; }
  const OvLibrary& library() const { return library_; }
  const OvApi& api() const { return library_.api(); }
  ov_core_t* core() const { return core_.get(); }
  const std::vector<std::string>& devices() const { return devices_; }  // "CPU", "GPU.0"
  const wasinn_backend_info* info() const { return &info_; }

  const backend::FallbackWarning& fallback() const { return fallback_; }

 private:
  const wasinn_host_services services_;
  const backend::Log log_;
  const backend::FallbackWarning fallback_;
  const BackendConfig config_;
  const OvLibrary library_;
  const OvPtr<ov_core_t> core_;
  const std::vector<std::string> devices_;
  const std::string device_text_;
  wasinn_backend_info info_;
};

}  // namespace wasinn::openvino
