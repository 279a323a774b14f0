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

// Nothing where the lengths do not fit the bytes.
std::optional<std::vector<std::string_view>> Elements(std::span<const uint8_t> tensor);
// How many there are, without room for them.
std::optional<uint64_t> CountElements(std::span<const uint8_t> tensor);
// The only one; nothing where there are none or several.
std::optional<std::span<const uint8_t>> OnlyElement(std::span<const uint8_t> tensor);

}  // namespace wasinn::serve
