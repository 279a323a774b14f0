// The element types of the Open Inference Protocol.
#pragma once

#include <wasinn/types.h>

#include <cstdint>
#include <string_view>

namespace wasinn::remote {

inline constexpr std::string_view kBytes = "BYTES";  // elements of any length: texts
inline constexpr uint64_t kLengthOfText = 4;         // bytes that stand before each of them, little-endian

// "FP32"; WASINN_DTYPE_UNKNOWN for BYTES and for what is no datatype.
wasinn_dtype DtypeOf(std::string_view datatype);

}  // namespace wasinn::remote
