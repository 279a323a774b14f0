// Reads messages of Protocol Buffers from the wire, without objects. Malformed ones are thrown as Failure.
#pragma once

#include <google/protobuf/io/coded_stream.h>

#include <cstdint>
#include <span>
#include <string>

#include "serve/oip/inference.h"

namespace wasinn::serve {

// The tags of a field: for bytes (packed numbers and messages, too), and for one number.
constexpr uint32_t BytesTag(int field) { return static_cast<uint32_t>(field) << 3 | 2; }
constexpr uint32_t NumberTag(int field) { return static_cast<uint32_t>(field) << 3; }

inline void RequireWellFormed(bool is) {
  if (!is) ThrowInvalid("the message is not an inference request");
}

// After a tag, in a contiguous message.
std::span<const uint8_t> ReadBytes(google::protobuf::io::CodedInputStream& in);
// A name in UTF-8, like strings of Protocol Buffers.
std::string ToText(std::span<const uint8_t> bytes);
// Skips an unused field.
void Skip(google::protobuf::io::CodedInputStream& in, uint32_t tag);

// Calls `use` for each number of a field, packed or not. False: `tag` is not this field's.
template <typename Use>
bool ReadNumbers(google::protobuf::io::CodedInputStream& in, uint32_t tag, int field, Use use) {
  const auto read = [&use](google::protobuf::io::CodedInputStream& from) {
    uint64_t number = 0;
    RequireWellFormed(from.ReadVarint64(&number));
    use(number);
  };
  if (tag == NumberTag(field)) {
    read(in);
  } else if (tag == BytesTag(field)) {
    const std::span<const uint8_t> packed = ReadBytes(in);
    google::protobuf::io::CodedInputStream numbers(packed.data(), static_cast<int>(packed.size()));
    while (numbers.CurrentPosition() < static_cast<int>(packed.size())) read(numbers);
  } else {
    return false;
  }
  return true;
}

}  // namespace wasinn::serve
