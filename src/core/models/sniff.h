// Recognises the formats that have no magic number, and files that are no models for any backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace wasinn::core {

// As wasinn_format::recognise. They read only the outermost structure of the bytes.
int32_t IsOnnx(const uint8_t* start, size_t n, uint64_t size);
int32_t IsTensorFlow(const uint8_t* start, size_t n, uint64_t size);

// The kind of bytes that no backend loads, though they look like a model, and what to bring instead; "": unknown.
std::string_view KindOfNoModel(std::span<const uint8_t> start);

}  // namespace wasinn::core
