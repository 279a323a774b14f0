// Devices, and what a model is compiled with for them.
#pragma once

#include <wasinn/backend.h>

#include <string>
#include <string_view>
#include <vector>

#include "common/config.h"
#include "openvino/config.h"
#include "openvino/ov_library.h"

namespace wasinn::openvino {

class Host;

std::vector<std::string> AvailableDevices(const OvLibrary& library, ov_core_t* core);
// "GPU.1" is on "GPU".
bool IsOn(std::string_view device, std::string_view kind);

// OpenVINO's devices for a target, the best one first. Throws WASINN_ERROR_UNSUPPORTED_OPERATION where there is none.
std::vector<std::string> DevicesOf(uint32_t target, const Host& host);

// Pairs of OpenVINO's properties and their values.
backend::Config::Entries PropertiesOf(const std::string& device, const ModelConfig& config, int streams);

}  // namespace wasinn::openvino
