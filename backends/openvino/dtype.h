// Element types.
#ifndef WASINN_BACKENDS_OPENVINO_DTYPE_H_
#define WASINN_BACKENDS_OPENVINO_DTYPE_H_

#include <openvino/c/openvino.h>
#include <wasinn/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace wasinn::openvino {

// UNKNOWN for what is no number of whole bytes.
wasinn_dtype FromOv(ov_element_type_e type);
// OpenVINO's word: "f32".
const char* OvName(ov_element_type_e type);
size_t ElementSize(wasinn_dtype type);
// The bytes of a tensor; UINT64_MAX where they are too many to count.
uint64_t TensorBytes(std::span<const int64_t> dims, size_t element_size);

}  // namespace wasinn::openvino

#endif  // WASINN_BACKENDS_OPENVINO_DTYPE_H_
