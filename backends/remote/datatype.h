// The element types of the Open Inference Protocol.
#pragma once

#include <wasinn/types.h>

#include <cstdint>
#include <string_view>

namespace wasinn::remote {

inline constexpr std::string_view kBytes = "BYTES";  // elements of any length: strings
inline constexpr uint64_t kLengthOfText = 4;         // bytes before each of them, little-endian

// "FP32"; WASINN_DTYPE_UNKNOWN for BYTES and unknown datatypes.
wasinn_dtype DtypeOf(std::string_view datatype);

}  // namespace wasinn::remote
