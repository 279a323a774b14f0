// The inputs and outputs of a session.
#pragma once

#include <wasinn/backend.h>

#include <deque>
#include <span>
#include <string>

#include "common/ports.h"
#include "onnx/model_scan.h"
#include "onnx/ort_library.h"

namespace wasinn::onnx {

struct Port : backend::Port {
  ONNXTensorElementDataType ort_type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  bool is_input = false;  // an output of the same name as an input
  bool is_strings = false;
  Classes classes;  // an output of maps, which hosts have as f32 [N, classes]; none: it is a tensor

  // Whether ONNX Runtime's value is another than what hosts have.
  bool is_converted() const { return is_strings || !classes.names.empty(); }
};

class Signature : public backend::Ports<Port> {
 public:
  // Inputs: those that must be set first, as ONNX counts them; behind them those that have a default in the model.
  // `scan`: ranks, for versions of ONNX Runtime that do not tell them, and the classes of maps.
  Signature(const OrtLibrary& library, const OrtSession* session, const ModelScan& scan);

 private:
  using Count = decltype(OrtApi::SessionGetInputCount);
  using Name = decltype(OrtApi::SessionGetInputName);
  using TypeInfo = decltype(OrtApi::SessionGetInputTypeInfo);

  void Read(Count count, Name name, TypeInfo type_info, uint32_t flags, std::deque<Port>* ports);
  void ReadType(const OrtTypeInfo* type, Port* port) const;
  void ReadTensor(const OrtTensorTypeAndShapeInfo* tensor, Port* port) const;
  void ReadMaps(Port* port) const;
  std::string TypeName(const OrtTypeInfo* type) const;

  const OrtLibrary& library_;
  const OrtSession* const session_;
  const ModelScan& scan_;
};

}  // namespace wasinn::onnx
