#include "serve/grpc/wire.h"

#include <google/protobuf/stubs/common.h>
#include <google/protobuf/wire_format_lite.h>

namespace wasinn::serve {

using google::protobuf::io::CodedInputStream;

std::span<const uint8_t> ReadBytes(CodedInputStream& in) {
  uint32_t length = 0;
  const void* here = nullptr;
  int left = 0;
  RequireWellFormed(in.ReadVarint32(&length));
  if (length == 0) return {};
  RequireWellFormed(in.GetDirectBufferPointer(&here, &left) && length <= static_cast<uint32_t>(left));
  in.Skip(static_cast<int>(length));
  return {static_cast<const uint8_t*>(here), length};
}

std::string ToText(std::span<const uint8_t> bytes) {
  std::string text = ToName({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const auto size = static_cast<int>(text.size());
  if (!google::protobuf::internal::IsStructurallyValidUTF8(text.data(), size)) {
    ThrowInvalid("the message is not an inference request: a text in it is not UTF-8");
  }
  return text;
}

void Skip(CodedInputStream& in, uint32_t tag) {
  RequireWellFormed(google::protobuf::internal::WireFormatLite::SkipField(&in, tag));
}

}  // namespace wasinn::serve
