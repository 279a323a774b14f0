// The inputs and outputs of a compiled model, and their element types.
#pragma once

#include <openvino/c/openvino.h>
#include <wasinn/backend.h>

#include <deque>
#include <vector>

#include "common/dtype.h"
#include "common/ports.h"
#include "openvino/ov_library.h"

namespace wasinn::openvino {

inline constexpr backend::TypeRow kTypes[] = {
    {F16, WASINN_DTYPE_F16, "f16"},
    {BF16, WASINN_DTYPE_BF16, "bf16"},
    {F32, WASINN_DTYPE_F32, "f32"},
    {F64, WASINN_DTYPE_F64, "f64"},
    {U8, WASINN_DTYPE_U8, "u8"},
    {I8, WASINN_DTYPE_I8, "i8"},
    {U16, WASINN_DTYPE_U16, "u16"},
    {I16, WASINN_DTYPE_I16, "i16"},
    {U32, WASINN_DTYPE_U32, "u32"},
    {I32, WASINN_DTYPE_I32, "i32"},
    {U64, WASINN_DTYPE_U64, "u64"},
    {I64, WASINN_DTYPE_I64, "i64"},
    {OV_BOOLEAN, WASINN_DTYPE_BOOL, "boolean"},
    // One byte an element, which guests get unchanged. After u8, so that u8 means that.
    {F8E4M3, WASINN_DTYPE_U8, "f8e4m3"},
    {F8E5M3, WASINN_DTYPE_U8, "f8e5m2"},
    {F8E8M0, WASINN_DTYPE_U8, "f8e8m0"},
    // Types that wasinn does not have. The small types pack several elements into a byte.
    {DYNAMIC, WASINN_DTYPE_UNKNOWN, "dynamic"},
    {STRING, WASINN_DTYPE_UNKNOWN, "string"},
    {I4, WASINN_DTYPE_UNKNOWN, "i4"},
    {U1, WASINN_DTYPE_UNKNOWN, "u1"},
    {U2, WASINN_DTYPE_UNKNOWN, "u2"},
    {U3, WASINN_DTYPE_UNKNOWN, "u3"},
    {U4, WASINN_DTYPE_UNKNOWN, "u4"},
    {U6, WASINN_DTYPE_UNKNOWN, "u6"},
    {NF4, WASINN_DTYPE_UNKNOWN, "nf4"},
    {F4E2M1, WASINN_DTYPE_UNKNOWN, "f4e2m1"},
};

// UNKNOWN for types that are no number of whole bytes.
inline wasinn_dtype FromOv(ov_element_type_e type) { return backend::DtypeOf(kTypes, type); }
// OpenVINO's name: "f32".
inline const char* OvName(ov_element_type_e type) { return backend::NameOf(kTypes, type); }

// Named "input0", "output0" if the model has no name.
struct Port : backend::Port {
  ov_element_type_e ov_type = DYNAMIC;
  // For each dimension, the bounds that `dims` cannot express (max -1: none); empty if the rank is open.
  std::vector<ov_dimension_t> bounds;
};

class Signature : public backend::Ports<Port> {
 public:
  // In the model's order.
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
