// Elements of tensors as JSON has them.
#pragma once

#include <wasinn/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "remote/inputs.h"

namespace wasinn::remote {

// Fills `out` with elements of `dtype` from an array, whose elements may be arrays. False: it has not exactly so many, or
// others, or JSON has none of that type.
bool DecodeJson(std::string_view json, uint32_t dtype, std::span<uint8_t> out);

// The only text of an array. False: it has none, or several.
bool TextOfJson(std::string_view json, std::string* text);

// Writes within memory, or counts what it would write.
class JsonSink {
 public:
  JsonSink() = default;
  explicit JsonSink(std::span<uint8_t> memory) : memory_(memory), counts_(false) {}

  // False: there is no room.
  bool Append(const void* data, size_t bytes);
  bool Append(std::string_view text) { return Append(text.data(), text.size()); }
  uint64_t bytes() const { return bytes_; }

 private:
  std::span<uint8_t> memory_;
  bool counts_ = true;
  uint64_t bytes_ = 0;
};

// The array of an input. WASINN_ERROR_INVALID_ARGUMENT for what JSON cannot say, WASINN_ERROR_UNSUPPORTED_OPERATION for a type that it
// does not have, and WASINN_ERROR_RUNTIME where there is no room, since the input has changed meanwhile.
void WriteJson(const Inputs::Input& input, JsonSink& sink);

}  // namespace wasinn::remote
