// The inputs and outputs of a session, and their element types.
#pragma once

#include <wasinn/backend.h>

#include <deque>
#include <string>

#include "common/dtype.h"
#include "common/ports.h"
#include "onnx/model_scan.h"
#include "onnx/ort_library.h"

namespace wasinn::onnx {

inline constexpr backend::TypeRow kTypes[] = {
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, WASINN_DTYPE_F16, "float16"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, WASINN_DTYPE_BF16, "bfloat16"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, WASINN_DTYPE_F32, "float"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, WASINN_DTYPE_F64, "double"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, WASINN_DTYPE_U8, "uint8"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, WASINN_DTYPE_I8, "int8"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, WASINN_DTYPE_U16, "uint16"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, WASINN_DTYPE_I16, "int16"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, WASINN_DTYPE_U32, "uint32"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, WASINN_DTYPE_I32, "int32"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, WASINN_DTYPE_U64, "uint64"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, WASINN_DTYPE_I64, "int64"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, WASINN_DTYPE_BOOL, "bool"},
    // One byte an element, which guests get unchanged. After uint8, so that u8 means that.
    {17, WASINN_DTYPE_U8, "float8e4m3fn"},
    {18, WASINN_DTYPE_U8, "float8e4m3fnuz"},
    {19, WASINN_DTYPE_U8, "float8e5m2"},
    {20, WASINN_DTYPE_U8, "float8e5m2fnuz"},
    // Types that wasinn does not have. Types of four bits pack two elements into a byte.
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, WASINN_DTYPE_UNKNOWN, "string"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64, WASINN_DTYPE_UNKNOWN, "complex64"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128, WASINN_DTYPE_UNKNOWN, "complex128"},
    {21, WASINN_DTYPE_UNKNOWN, "uint4"},
    {22, WASINN_DTYPE_UNKNOWN, "int4"},
    {23, WASINN_DTYPE_UNKNOWN, "float4e2m1"},
};

inline wasinn_dtype FromOrt(ONNXTensorElementDataType type) { return backend::DtypeOf(kTypes, type); }
// ONNX's own name: "float", "int64", "string".
inline const char* OnnxName(ONNXTensorElementDataType type) { return backend::NameOf(kTypes, type); }

struct Port : backend::Port {
  ONNXTensorElementDataType ort_type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  bool is_input = false;  // an output with the name of an input
  bool is_strings = false;
  Classes classes;  // for an output of maps, which hosts get as f32 [N, classes]; none: it is a tensor
  // For "s.2", an element of the sequence "s". The first one has the sequence's index, the others follow all outputs.
  std::string sequence;
  size_t element = 0, n_elements = 1;
  size_t first = 0;  // the index of the first one; only for the others

  // ONNX Runtime's name of the value.
  const std::string& source() const { return sequence.empty() ? name : sequence; }
  // Whether ONNX Runtime's value differs from the hosts'.
  bool is_converted() const { return is_strings || !classes.names.empty() || !sequence.empty(); }
};

class Signature : public backend::Ports<Port> {
 public:
  // Inputs: first those that must be set, in ONNX's order; then those with a default in the model. `scan`: ranks, for
  // versions of ONNX Runtime that do not report them, the classes of maps, and the lengths of sequences.
  Signature(const OrtLibrary& library, const OrtSession* session, const ModelScan& scan);

 private:
  using Count = decltype(OrtApi::SessionGetInputCount);
  using Name = decltype(OrtApi::SessionGetInputName);
  using TypeInfo = decltype(OrtApi::SessionGetInputTypeInfo);

  void Read(Count count, Name name, TypeInfo type_info, uint32_t flags, std::deque<Port>* ports);
  void ReadType(const OrtTypeInfo* type, Port* port) const;
  void ReadTensor(const OrtTensorTypeAndShapeInfo* tensor, Port* port) const;
  void ReadMaps(Port* port) const;
  void ReadSequences();
  OrtPtr<OrtTypeInfo> ElementOf(size_t output) const;
  std::string TypeName(const OrtTypeInfo* type) const;

  const OrtLibrary& library_;
  const OrtSession* const session_;
  const ModelScan& scan_;
};

}  // namespace wasinn::onnx
