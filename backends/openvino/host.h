// The objects of one wasinn host: OpenVINO, a core that only opens code from its own folder, and its devices.
#pragma once

#include <wasinn/backend.h>

#include <string>
#include <string_view>
#include <vector>

#include "common/bases.h"
#include "common/config.h"
#include "openvino/config.h"
#include "openvino/ov_library.h"

namespace wasinn::openvino {

class Host : public backend::HostOf<BackendConfig, OvLibrary> {
 public:
  Host(const wasinn_host_services& services, const char* config);

  const OvApi& api() const { return library_.api(); }
  ov_core_t* core() const { return core_.get(); }
  const std::vector<std::string>& devices() const { return devices_; }  // "CPU", "GPU.0"

 private:
  const OvPtr<ov_core_t> core_;
  const std::vector<std::string> devices_;
};

// "AUTO:GPU,CPU" without devices whose plugins are missing: OpenVINO itself also skips devices that it does not know.
std::string WithoutMissing(const OvLibrary& library, const std::string& device);

// "GPU.1" is on "GPU".
bool IsOn(std::string_view device, std::string_view kind);

// OpenVINO's devices for a target, the best one first. Throws WASINN_ERROR_UNSUPPORTED_OPERATION if there is none.
std::vector<std::string> DevicesOf(uint32_t target, const Host& host);

// Pairs of OpenVINO's properties and their values.
backend::Config::Entries PropertiesOf(const std::string& device, const ModelConfig& config, int streams);

}  // namespace wasinn::openvino
