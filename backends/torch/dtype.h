// Element types: PyTorch's and wasinn's.
#pragma once

#include <c10/core/ScalarType.h>
#include <wasinn/types.h>

#include <cstddef>
#include <optional>

namespace wasinn::torch {

struct DtypeRow {
  c10::ScalarType torch;
  wasinn_dtype dtype;
};

inline constexpr DtypeRow kDtypes[] = {
    {c10::ScalarType::Half, WASINN_DTYPE_F16},
    {c10::ScalarType::BFloat16, WASINN_DTYPE_BF16},
    {c10::ScalarType::Float, WASINN_DTYPE_F32},
    {c10::ScalarType::Double, WASINN_DTYPE_F64},
    {c10::ScalarType::Byte, WASINN_DTYPE_U8},
    {c10::ScalarType::Char, WASINN_DTYPE_I8},
    {c10::ScalarType::UInt16, WASINN_DTYPE_U16},
    {c10::ScalarType::Short, WASINN_DTYPE_I16},
    {c10::ScalarType::UInt32, WASINN_DTYPE_U32},
    {c10::ScalarType::Int, WASINN_DTYPE_I32},
    {c10::ScalarType::UInt64, WASINN_DTYPE_U64},
    {c10::ScalarType::Long, WASINN_DTYPE_I64},
    {c10::ScalarType::Bool, WASINN_DTYPE_BOOL},
    // One byte an element, which guests take as it is. After Byte, which is what u8 means by itself.
    {c10::ScalarType::Float8_e4m3fn, WASINN_DTYPE_U8},
    {c10::ScalarType::Float8_e5m2, WASINN_DTYPE_U8},
};

// WASINN_DTYPE_UNKNOWN for a type that wasinn has no word for.
inline wasinn_dtype FromTorch(c10::ScalarType type) {
  for (const DtypeRow& row : kDtypes) {
    if (row.torch == type) return row.dtype;
  }
  return WASINN_DTYPE_UNKNOWN;
}

inline std::optional<c10::ScalarType> ToTorch(uint32_t dtype) {
  for (const DtypeRow& row : kDtypes) {
    if (row.dtype == static_cast<wasinn_dtype>(dtype)) return row.torch;
  }
  return std::nullopt;
}

}  // namespace wasinn::torch
