// Elements of tensors in JSON.
#pragma once

#include <wasinn/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "remote/tensors.h"

namespace wasinn::remote {

// Fills `out` with elements of `dtype` from an array, which may be nested. Returns false if the count or the types
// differ, or if JSON cannot express the type.
bool DecodeJson(std::string_view json, uint32_t dtype, std::span<uint8_t> out);

// The only text of an array. Returns false if there are none or several.
bool TextOfJson(std::string_view json, std::string* text);

// The length of a text with JSON's escapes, and the end of what was written. The text is UTF-8.
uint64_t EscapedBytes(std::string_view text);
char* WriteEscaped(std::string_view text, char* to);

// Writes to memory, or counts the bytes that it would write.
class JsonSink {
 public:
  JsonSink() = default;
  explicit JsonSink(std::span<uint8_t> memory) : memory_(memory), counts_(false) {}

  // Returns false without room.
  bool Append(const void* data, size_t bytes);
  bool Append(std::string_view text) { return Append(text.data(), text.size()); }
  uint64_t bytes() const { return bytes_; }

 private:
  std::span<uint8_t> memory_;
  bool counts_ = true;
  uint64_t bytes_ = 0;
};

// Writes an input as an array. Throws WASINN_ERROR_INVALID_ARGUMENT for values that JSON cannot express,
// WASINN_ERROR_UNSUPPORTED_OPERATION for such types, and WASINN_ERROR_RUNTIME without room: the input has changed.
void WriteJson(const Inputs::Input& input, JsonSink& sink);

}  // namespace wasinn::remote
