// Recognises the formats that have no magic number.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wasinn::core {

// As wasinn_format::recognise. They read only the outermost structure of the bytes.
int32_t IsOnnx(const uint8_t* start, size_t n, uint64_t size);
int32_t IsTensorFlow(const uint8_t* start, size_t n, uint64_t size);

}  // namespace wasinn::core
