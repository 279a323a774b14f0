#include "core/escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace wasinn::core {
namespace {

struct Character {
  size_t size;  // bytes; 0: the text is not UTF-8 here
  uint32_t code = 0;
};

// The first character of a text that is not empty, by RFC 3629: no overlong form, no surrogate.
Character Decode(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return {1, first};
  const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return {0};
  uint32_t code = first & (0x7fu >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {0};
    code = code << 6 | (byte(i) & 0x3f);
  }
  static constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[size] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {0};
  return {size, code};
}

// False for characters that change the screen, or how the rest of a line reads: controls, line breaks, marks of
// direction.
bool Shows(uint32_t code) {
  static constexpr struct {
    uint32_t first, last;
  } kHidden[] = {{0, 0x1f}, {0x7f, 0x9f}, {0x61c, 0x61c}, {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};
  return std::none_of(std::begin(kHidden), std::end(kHidden),
                      [code](const auto& range) { return code >= range.first && code <= range.last; });
}

}  // namespace

std::string Escape(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Character character = Decode(text);
    const std::string_view bytes = text.substr(0, std::max<size_t>(character.size, 1));
    if (character.size > 0 && Shows(character.code)) {
      shown += bytes;
    } else {
      for (char c : bytes) shown += fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
    }
    text.remove_prefix(bytes.size());
  }
  return shown;
}

}  // namespace wasinn::core
