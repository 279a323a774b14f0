// TensorFlow Lite's form of strings, one block for a tensor: their number, the place of each and of the end, in 32 bits
// each, and then their bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

namespace wasinn::tflite::string_block {

inline constexpr uint64_t kNumber = sizeof(int32_t);

// The offset of the bytes of so many strings.
inline uint64_t TextBegin(uint64_t count) { return kNumber * (count + 2); }

// In a model's file a block may be anywhere.
inline int32_t NumberAt(const char* block, uint64_t index) {
  int32_t number = 0;
  std::memcpy(&number, block + kNumber * index, kNumber);
  return number;
}
inline void SetNumber(char* block, uint64_t index, uint64_t number) {
  const auto value = static_cast<int32_t>(number);
  std::memcpy(block + kNumber * index, &value, kNumber);
}

// Whether a block has so many strings, all of them inside of it. `longest`: the bytes of the longest.
inline bool Holds(std::span<const char> block, uint64_t count, uint64_t* longest) {
  if (count > block.size() / kNumber || TextBegin(count) > block.size()) return false;
  if (NumberAt(block.data(), 0) < 0 || static_cast<uint64_t>(NumberAt(block.data(), 0)) != count) return false;
  int64_t last = NumberAt(block.data(), 1);
  for (uint64_t i = 0; i < count; ++i) {
    const int64_t next = NumberAt(block.data(), i + 2);
    if (last < 0 || next < last || static_cast<uint64_t>(next) > block.size()) return false;
    *longest = std::max(*longest, static_cast<uint64_t>(next - last));
    last = next;
  }
  return true;
}

}  // namespace wasinn::tflite::string_block
