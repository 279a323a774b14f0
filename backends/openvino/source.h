// The sources from which a model is loaded.
#pragma once

#include <wasinn/backend.h>

#include <span>

#include "common/model_bytes.h"
#include "openvino/host.h"

namespace wasinn::openvino {

// A model that OpenVINO has read, not compiled yet.
struct SourceModel {
  OvPtr<ov_model_t> model;
  bool may_loop = true;      // as often as the data says
  bool has_state = false;    // of an IR; models from other formats do not show it
  uint64_t state_bytes = 0;  // as far as an IR shows it
  // Must live as long as the compiled model, which computes on these weights.
  backend::KeptBytes weights;
};

// By the builders' bytes, path and format:
//  - IR: XML, followed by weights as a second builder, or in the file NAME.bin next to NAME.xml;
//  - ONNX from bytes, or from its file if it keeps weights next to it;
//  - a host's file of another kind (TensorFlow, TensorFlow Lite) through OpenVINO's frontend for it. saved_model.pb
//    stands for its folder.
// A guest's model never makes OpenVINO open a file.
SourceModel ReadSource(const Host& host, std::span<const wasinn_builder> builders, const wasinn_load_options& options);

}  // namespace wasinn::openvino
