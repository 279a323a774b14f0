// The inputs and outputs of a compiled model.
#pragma once

#include <wasinn/backend.h>

#include <deque>
#include <vector>

#include "common/ports.h"
#include "openvino/ov_library.h"

namespace wasinn::openvino {

// Named "input0", "output0" where the model has no name.
struct Port : backend::Port {
  ov_element_type_e ov_type = DYNAMIC;
  // Of each dimension, for which `dims` has no word (max -1: none); empty where the rank is open.
  std::vector<ov_dimension_t> bounds;
};

class Signature : public backend::Ports<Port> {
 public:
  // In the order of the model.
  Signature(const OvLibrary& library, const ov_compiled_model_t* compiled);

 private:
  using Count = decltype(OvApi::ov_compiled_model_inputs_size);
  using At = decltype(OvApi::ov_compiled_model_input_by_index);

  void Read(const ov_compiled_model_t* compiled, Count count, At at, const char* kind, std::deque<Port>* ports) const;
  void ReadPort(const ov_output_const_port_t* from, Port* port) const;
  void ReadShape(const ov_output_const_port_t* from, Port* port) const;

  const OvLibrary& library_;
};

}  // namespace wasinn::openvino
