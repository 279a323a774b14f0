// Element types.
#pragma once

#include <tensorflow/c/tf_datatype.h>
#include <wasinn/types.h>

#include <cstddef>

namespace wasinn::tensorflow {

// WASINN_DTYPE_UNKNOWN for what is no number of whole bytes. A reference (a variable of TensorFlow 1) is as its value.
wasinn_dtype FromTf(int type);
// What a reference refers to.
TF_DataType BaseType(int type);
// Bytes of an element; 0 for those without a fixed size.
size_t TfElementSize(int type);
// "DT_FLOAT"
const char* TfName(int type);

}  // namespace wasinn::tensorflow
