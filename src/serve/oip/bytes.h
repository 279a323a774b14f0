// The layout of BYTES: each element after its length, four bytes, little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::serve {

inline constexpr size_t kLengthBytes = sizeof(uint32_t);

void AppendElement(std::string& tensor, std::span<const uint8_t> element);

// No value if the lengths do not fit the bytes.
std::optional<std::vector<std::string_view>> Elements(std::span<const uint8_t> tensor);
// Counts them without allocating.
std::optional<uint64_t> CountElements(std::span<const uint8_t> tensor);
// The only element; no value if there are none or several.
std::optional<std::span<const uint8_t>> OnlyElement(std::span<const uint8_t> tensor);

}  // namespace wasinn::serve
