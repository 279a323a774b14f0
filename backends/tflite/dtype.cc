#include "tflite/dtype.h"

namespace wasinn::tflite {

namespace {

struct TypeRow {
  int type;
  wasinn_dtype dtype;
  size_t size;
  const char* name;
};

constexpr TypeRow kTypeRows[] = {
    {1, WASINN_F32, 4, "FLOAT32"},
    {2, WASINN_I32, 4, "INT32"},
    {3, WASINN_U8, 1, "UINT8"},
    {4, WASINN_I64, 8, "INT64"},
    {6, WASINN_BOOL, 1, "BOOL"},
    {7, WASINN_I16, 2, "INT16"},
    {9, WASINN_I8, 1, "INT8"},
    {10, WASINN_F16, 2, "FLOAT16"},
    {11, WASINN_F64, 8, "FLOAT64"},
    {13, WASINN_U64, 8, "UINT64"},
    {16, WASINN_U32, 4, "UINT32"},
    {17, WASINN_U16, 2, "UINT16"},
    {19, WASINN_BF16, 2, "BFLOAT16"},
    // What wasinn has no word for. INT4 packs two elements into a byte.
    {0, WASINN_DTYPE_UNKNOWN, 0, "NOTYPE"},
    {5, WASINN_DTYPE_UNKNOWN, 0, "STRING"},
    {8, WASINN_DTYPE_UNKNOWN, 0, "COMPLEX64"},
    {12, WASINN_DTYPE_UNKNOWN, 0, "COMPLEX128"},
    {14, WASINN_DTYPE_UNKNOWN, 0, "RESOURCE"},
    {15, WASINN_DTYPE_UNKNOWN, 0, "VARIANT"},
    {18, WASINN_DTYPE_UNKNOWN, 0, "INT4"},
};

}  // namespace

wasinn_dtype FromTfLite(int type) {
  for (const TypeRow& row : kTypeRows) {
    if (row.type == type) return row.dtype;
  }
  return WASINN_DTYPE_UNKNOWN;
}

size_t ElementSize(wasinn_dtype type) {
  for (const TypeRow& row : kTypeRows) {
    if (row.dtype == type) return row.size;
  }
  return 0;
}

const char* TfLiteName(int type) {
  for (const TypeRow& row : kTypeRows) {
    if (row.type == type) return row.name;
  }
  return "unknown";
}

uint64_t TensorBytes(std::span<const int64_t> dims, size_t element_size) {
  uint64_t bytes = element_size;
  for (const int64_t dim : dims) {
    if (dim == 0) return 0;
  }
  for (const int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes)) return UINT64_MAX;
  }
  return bytes;
}

}  // namespace wasinn::tflite
