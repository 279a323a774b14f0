// Elements that a server sends as numbers of Protocol Buffers instead of raw bytes.
#pragma once

#include <wasinn/types.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace wasinn::remote {

// Fills `out` with elements of `dtype` from an InferTensorContents. Returns false if the type or the count differs.
bool DecodeContents(std::string_view contents, uint32_t dtype, std::span<uint8_t> out);

// The only text of contents. Returns false if there are none or several.
bool TextOfContents(std::string_view contents, std::string_view* text);

}  // namespace wasinn::remote
