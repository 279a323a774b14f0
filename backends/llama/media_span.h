// Where an image or a sound lies among the tokens of a text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace wasinn::llama {

// Two of them are the same where the file is: so what was evaluated of one is never taken for another.
struct MediaSpan {
  size_t begin = 0, count = 0;       // tokens
  size_t positions = 0;              // that it takes
  std::array<uint8_t, 32> digest{};  // of the file

  size_t end() const { return begin + count; }
  bool operator==(const MediaSpan&) const = default;
};

}  // namespace wasinn::llama
