// Element types: TensorFlow Lite's and wasinn's.
#ifndef WASINN_BACKENDS_TFLITE_DTYPE_H_
#define WASINN_BACKENDS_TFLITE_DTYPE_H_

#include <wasinn/types.h>

namespace wasinn::tflite {

// WASINN_DTYPE_UNKNOWN for a type that wasinn has no word for. An int, since the headers are older than the library.
wasinn_dtype FromTfLite(int type);
// TensorFlow Lite's own word: "FLOAT32", "STRING".
const char* TfLiteName(int type);
}  // namespace wasinn::tflite

#endif  // WASINN_BACKENDS_TFLITE_DTYPE_H_
