// Element types: TensorFlow Lite's and wasinn's.
#pragma once

#include <wasinn/types.h>

namespace wasinn::tflite {

// WASINN_DTYPE_UNKNOWN for a type that wasinn has no word for. An int, since the headers are older than the library.
wasinn_dtype FromTfLite(int type);
// TensorFlow Lite's own word: "FLOAT32", "STRING".
const char* TfLiteName(int type);
}  // namespace wasinn::tflite
