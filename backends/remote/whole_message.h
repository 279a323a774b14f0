// A message in one piece.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <string_view>

namespace wasinn::remote {

// HTTP's messages already are; others are copied.
class WholeMessage {
 public:
  explicit WholeMessage(const grpc::ByteBuffer& message) {
    if (message.Valid() && !message.TrySingleSlice(&slice_).ok()) (void)message.DumpToSingleSlice(&slice_);
  }

  std::string_view text() const { return {reinterpret_cast<const char*>(slice_.begin()), slice_.size()}; }

 private:
  grpc::Slice slice_;
};

}  // namespace wasinn::remote
