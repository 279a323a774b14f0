// The inputs and outputs of a compiled model.
#ifndef WASINN_BACKENDS_OPENVINO_SIGNATURE_H_
#define WASINN_BACKENDS_OPENVINO_SIGNATURE_H_

#include <wasinn/backend.h>

#include <deque>
#include <string>
#include <vector>

#include "openvino/ov_library.h"

namespace wasinn::openvino {

// One input or output. Its `io` points into it, so it stays where it was made.
struct Port {
  std::string name;       // "input0", "output0" where the model has none
  std::string type_name;  // OpenVINO's: "f32"
  ov_element_type_e ov_type = DYNAMIC;
  std::vector<int64_t> dims;
  wasinn_io io = {};

  bool servable() const { return (io.flags & WASINN_IO_UNSERVABLE) == 0; }
  bool fixed_shape() const;
};

class Signature {
 public:
  // In the order of the model.
  Signature(const OvLibrary& library, const ov_compiled_model_t* compiled);
  Signature(const Signature&) = delete;
  Signature& operator=(const Signature&) = delete;

  const std::deque<Port>& inputs() const { return inputs_; }
  const std::deque<Port>& outputs() const { return outputs_; }
  const wasinn_info* info() const { return &info_; }

 private:
  using Count = decltype(OvApi::ov_compiled_model_inputs_size);
  using At = decltype(OvApi::ov_compiled_model_input_by_index);

  void Read(const ov_compiled_model_t* compiled, Count count, At at, const char* kind, std::deque<Port>* ports) const;
  void ReadPort(const ov_output_const_port_t* from, Port* port) const;
  void ReadShape(const ov_output_const_port_t* from, Port* port) const;

  const OvLibrary& library_;
  std::deque<Port> inputs_;
  std::deque<Port> outputs_;
  std::vector<const wasinn_io*> input_pointers_;
  std::vector<const wasinn_io*> output_pointers_;
  wasinn_info info_ = {};
};

}  // namespace wasinn::openvino

#endif  // WASINN_BACKENDS_OPENVINO_SIGNATURE_H_
