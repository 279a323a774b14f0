#include "openvino/dtype.h"

#include <algorithm>

namespace wasinn::openvino {

namespace {

struct TypeRow {
  ov_element_type_e ov;
  wasinn_dtype dtype;
  size_t size;
  const char* name;
};

constexpr TypeRow kTypeRows[] = {
    {F16, WASINN_F16, 2, "f16"},
    {BF16, WASINN_BF16, 2, "bf16"},
    {F32, WASINN_F32, 4, "f32"},
    {F64, WASINN_F64, 8, "f64"},
    {U8, WASINN_U8, 1, "u8"},
    {I8, WASINN_I8, 1, "i8"},
    {U16, WASINN_U16, 2, "u16"},
    {I16, WASINN_I16, 2, "i16"},
    {U32, WASINN_U32, 4, "u32"},
    {I32, WASINN_I32, 4, "i32"},
    {U64, WASINN_U64, 8, "u64"},
    {I64, WASINN_I64, 8, "i64"},
    {OV_BOOLEAN, WASINN_BOOL, 1, "boolean"},
    // One byte an element, which guests take as it is. After u8, which is what u8 means by itself.
    {F8E4M3, WASINN_U8, 1, "f8e4m3"},
    {F8E5M3, WASINN_U8, 1, "f8e5m2"},
    {F8E8M0, WASINN_U8, 1, "f8e8m0"},
    // What wasinn has no word for. The small types pack several elements into a byte.
    {DYNAMIC, WASINN_DTYPE_UNKNOWN, 0, "dynamic"},
    {STRING, WASINN_DTYPE_UNKNOWN, 0, "string"},
    {I4, WASINN_DTYPE_UNKNOWN, 0, "i4"},
    {U1, WASINN_DTYPE_UNKNOWN, 0, "u1"},
    {U2, WASINN_DTYPE_UNKNOWN, 0, "u2"},
    {U3, WASINN_DTYPE_UNKNOWN, 0, "u3"},
    {U4, WASINN_DTYPE_UNKNOWN, 0, "u4"},
    {U6, WASINN_DTYPE_UNKNOWN, 0, "u6"},
    {NF4, WASINN_DTYPE_UNKNOWN, 0, "nf4"},
    {F4E2M1, WASINN_DTYPE_UNKNOWN, 0, "f4e2m1"},
};

}  // namespace

wasinn_dtype FromOv(ov_element_type_e type) {
  const auto* row = std::ranges::find(kTypeRows, type, &TypeRow::ov);
  return row == std::end(kTypeRows) ? WASINN_DTYPE_UNKNOWN : row->dtype;
}

const char* OvName(ov_element_type_e type) {
  const auto* row = std::ranges::find(kTypeRows, type, &TypeRow::ov);
  return row == std::end(kTypeRows) ? "unknown" : row->name;
}

size_t ElementSize(wasinn_dtype type) {
  const auto* row = std::ranges::find(kTypeRows, type, &TypeRow::dtype);
  return row == std::end(kTypeRows) ? 0 : row->size;
}

uint64_t TensorBytes(std::span<const int64_t> dims, size_t element_size) {
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  uint64_t bytes = element_size;
  for (const int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes)) return UINT64_MAX;
  }
  return bytes;
}

}  // namespace wasinn::openvino
