// The inputs and outputs of a session.
#ifndef WASINN_BACKENDS_ONNX_SIGNATURE_H_
#define WASINN_BACKENDS_ONNX_SIGNATURE_H_

#include <wasinn/backend.h>

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "onnx/ort_library.h"

namespace wasinn::onnx {

// One input or output. Its `io` points into it, so it stays where it was made.
struct Port {
  std::string name;
  std::string type_name;  // "tensor(float)", "seq(map(int64,tensor(float)))"
  ONNXTensorElementDataType ort_type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  std::vector<int64_t> dims;
  wasinn_io io = {};
  bool is_input = false;  // an output of the same name as an input

  bool servable() const { return (io.flags & WASINN_IO_UNSERVABLE) == 0; }
  bool fixed_shape() const;
};

class Signature {
 public:
  // Inputs: those that must be set first, as ONNX counts them; behind them those that have a default in the model.
  // `ranked`: names whose rank the model's file tells, for versions of ONNX Runtime that do not.
  Signature(const OrtLibrary& library, const OrtSession* session, std::span<const std::string> ranked);
  Signature(const Signature&) = delete;
  Signature& operator=(const Signature&) = delete;

  const std::deque<Port>& inputs() const { return inputs_; }
  const std::deque<Port>& outputs() const { return outputs_; }
  const wasinn_info* info() const { return &info_; }

 private:
  using Count = decltype(OrtApi::SessionGetInputCount);
  using Name = decltype(OrtApi::SessionGetInputName);
  using TypeInfo = decltype(OrtApi::SessionGetInputTypeInfo);

  void Read(Count count, Name name, TypeInfo type_info, uint32_t flags, std::deque<Port>* ports);
  void ReadType(const OrtTypeInfo* type, Port* port) const;
  void ReadTensor(const OrtTensorTypeAndShapeInfo* tensor, Port* port) const;
  std::string TypeName(const OrtTypeInfo* type) const;

  const OrtLibrary& library_;
  const OrtSession* const session_;
  const std::span<const std::string> ranked_;
  std::deque<Port> inputs_;
  std::deque<Port> outputs_;
  std::vector<const wasinn_io*> input_pointers_;
  std::vector<const wasinn_io*> output_pointers_;
  wasinn_info info_ = {};
};

}  // namespace wasinn::onnx

#endif  // WASINN_BACKENDS_ONNX_SIGNATURE_H_
