// What a model is loaded from.
#pragma once

#include <wasinn/backend.h>

#include <span>

#include "common/model_bytes.h"
#include "openvino/host.h"

namespace wasinn::openvino {

// A model as OpenVINO has read it, not yet compiled.
struct SourceModel {
  OvPtr<ov_model_t> model;
  bool may_loop = true;      // as often as the data say
  bool has_state = false;    // of an IR; what frontends make of other formats does not show it
  uint64_t state_bytes = 0;  // of what an IR says of it
  // Must live as long as what is compiled of the model, which computes on the weights where they lie.
  backend::KeptBytes weights;
};

// By the builders' bytes, path and format:
//  - IR: XML, and behind it weights as a second builder, or in the file NAME.bin beside NAME.xml;
//  - ONNX from bytes, and from its file where it keeps weights beside it;
//  - a host's file of another kind (TensorFlow, TensorFlow Lite) through OpenVINO's frontend for it. saved_model.pb
//    stands for its folder.
// Nothing that a guest sends makes OpenVINO open a file.
SourceModel ReadSource(const Host& host, std::span<const wasinn_builder> builders, const wasinn_load_options& options);

}  // namespace wasinn::openvino
