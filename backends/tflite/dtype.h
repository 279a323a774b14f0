// Element types: TensorFlow Lite's and wasinn's.
#ifndef WASINN_BACKENDS_TFLITE_DTYPE_H_
#define WASINN_BACKENDS_TFLITE_DTYPE_H_

#include <wasinn/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace wasinn::tflite {

// WASINN_DTYPE_UNKNOWN for a type that wasinn has no word for. An int, since the headers are older than the library.
wasinn_dtype FromTfLite(int type);
// Bytes of one element; 0 for WASINN_DTYPE_UNKNOWN.
size_t ElementSize(wasinn_dtype type);
// TensorFlow Lite's own word: "FLOAT32", "STRING".
const char* TfLiteName(int type);
// The bytes of a tensor; UINT64_MAX where they are too many to count, or a dimension is negative.
uint64_t TensorBytes(std::span<const int64_t> dims, size_t element_size);

}  // namespace wasinn::tflite

#endif  // WASINN_BACKENDS_TFLITE_DTYPE_H_
