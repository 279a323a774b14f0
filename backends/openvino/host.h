// What one wasinn host has opened: OpenVINO, a core, configuration.
#pragma once

#include <wasinn/backend.h>

#include <string>
#include <vector>

#include "common/host_base.h"
#include "openvino/config.h"
#include "openvino/ov_library.h"

namespace wasinn::openvino {

class Host : public backend::HostBase {
 public:
  Host(const wasinn_host_services& services, const char* config);

  const BackendConfig& config() const { return config_; }
  const OvLibrary& library() const { return library_; }
  const OvApi& api() const { return library_.api(); }
  ov_core_t* core() const { return core_.get(); }
  const std::vector<std::string>& devices() const { return devices_; }  // "CPU", "GPU.0"

 private:
  const BackendConfig config_;
  const OvLibrary library_;
  const OvPtr<ov_core_t> core_;
  const std::vector<std::string> devices_;
};

}  // namespace wasinn::openvino
