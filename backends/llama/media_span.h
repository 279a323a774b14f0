// The place of an image or a sound among the tokens of a text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace wasinn::llama {

// Equal if the files are: so evaluated tokens of one file are never used for another.
struct MediaSpan {
  size_t begin = 0, count = 0;       // tokens
  size_t positions = 0;              // that it takes
  std::array<uint8_t, 32> digest{};  // of the file

  size_t end() const { return begin + count; }
  bool operator==(const MediaSpan&) const = default;
};

}  // namespace wasinn::llama
