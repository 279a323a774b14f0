// Messages of Protocol Buffers as they lie on the wire, read without becoming objects. What is malformed is thrown, as Failure.
#pragma once

#include <google/protobuf/io/coded_stream.h>

#include <cstdint>
#include <span>
#include <string>

#include "serve/oip/inference.h"

namespace wasinn::serve {

// The tags of a field: of bytes, as which packed numbers and messages come, and of one number.
constexpr uint32_t BytesTag(int field) { return static_cast<uint32_t>(field) << 3 | 2; }
constexpr uint32_t NumberTag(int field) { return static_cast<uint32_t>(field) << 3; }

inline void RequireWellFormed(bool is) {
  if (!is) ThrowInvalid("the message is not an inference request");
}

// After a tag, in a message that lies together.
std::span<const uint8_t> ReadBytes(google::protobuf::io::CodedInputStream& in);
// A name that is UTF-8, as strings of Protocol Buffers are.
std::string ToText(std::span<const uint8_t> bytes);
// A field that nobody wants.
void Skip(google::protobuf::io::CodedInputStream& in, uint32_t tag);

// Gives each number of a field to `use`, whether they came packed or one by one. False: `tag` is none of the field's.
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
