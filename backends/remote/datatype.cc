#include "remote/datatype.h"

#include <algorithm>
#include <utility>

namespace wasinn::remote {

namespace {

constexpr std::pair<std::string_view, wasinn_dtype> kDatatypes[] = {
    {"FP16", WASINN_DTYPE_F16},   {"BF16", WASINN_DTYPE_BF16},  {"FP32", WASINN_DTYPE_F32},
    {"FP64", WASINN_DTYPE_F64},   {"UINT8", WASINN_DTYPE_U8},   {"INT8", WASINN_DTYPE_I8},
    {"UINT16", WASINN_DTYPE_U16}, {"INT16", WASINN_DTYPE_I16},  {"UINT32", WASINN_DTYPE_U32},
    {"INT32", WASINN_DTYPE_I32},  {"UINT64", WASINN_DTYPE_U64}, {"INT64", WASINN_DTYPE_I64},
    {"BOOL", WASINN_DTYPE_BOOL},
};

}  // namespace

wasinn_dtype DtypeOf(std::string_view datatype) {
  const auto* found = std::ranges::find(kDatatypes, datatype, &std::pair<std::string_view, wasinn_dtype>::first);
  return found == std::end(kDatatypes) ? WASINN_DTYPE_UNKNOWN : found->second;
}

}  // namespace wasinn::remote
