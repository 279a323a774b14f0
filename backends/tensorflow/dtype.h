// Element types.
#ifndef WASINN_BACKENDS_TENSORFLOW_DTYPE_H_
#define WASINN_BACKENDS_TENSORFLOW_DTYPE_H_

#include <tensorflow/c/tf_datatype.h>
#include <wasinn/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace wasinn::tensorflow {

// WASINN_DTYPE_UNKNOWN for what is no number of whole bytes. A reference (a variable of TensorFlow 1) is as its value.
wasinn_dtype FromTf(int type);
// What a reference refers to.
TF_DataType BaseType(int type);
// Bytes of an element; 0 for those without a fixed size.
size_t TfElementSize(int type);
size_t ElementSize(wasinn_dtype type);
// "DT_FLOAT"
const char* TfName(int type);

// The bytes of a tensor; UINT64_MAX where they are too many to count or a dimension is negative.
uint64_t TensorBytes(std::span<const int64_t> dims, size_t element_size);

}  // namespace wasinn::tensorflow

#endif  // WASINN_BACKENDS_TENSORFLOW_DTYPE_H_
