// OpenVINO's core, made so that it opens code from its own folder only.
#pragma once

#include <string>

#include "common/log.h"
#include "openvino/ov_library.h"

namespace wasinn::openvino {

// Throws WASINN_ERROR_UNSUPPORTED_OPERATION.
OvPtr<ov_core_t> MakeCore(const OvLibrary& library, const backend::Log& log);

// "AUTO:GPU,CPU" without the devices whose plugins are not there, as OpenVINO itself passes over them where it knows of
// none.
std::string WithoutMissing(const OvLibrary& library, const std::string& device);

}  // namespace wasinn::openvino
