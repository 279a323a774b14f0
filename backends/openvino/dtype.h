// Element types.
#pragma once

#include <openvino/c/openvino.h>
#include <wasinn/types.h>

namespace wasinn::openvino {

// UNKNOWN for what is no number of whole bytes.
wasinn_dtype FromOv(ov_element_type_e type);
// OpenVINO's word: "f32".
const char* OvName(ov_element_type_e type);
}  // namespace wasinn::openvino
