#include "serve/grpc/grpc_inflate.h"

#include <grpc/grpc.h>

#include <utility>

#include "serve/http/inflate.h"

// gRPC's friend class for access to its buffers: the public functions do not show whether they are compressed.
class grpc::internal::GrpcByteBufferPeer {
 public:
  static bool IsCompressed(const grpc::ByteBuffer& message) {
    return message.Valid() && message.buffer_->data.raw.compression != GRPC_COMPRESS_NONE;
  }
};

namespace wasinn::serve {

bool IsCompressed(const grpc::ByteBuffer& message) { return grpc::internal::GrpcByteBufferPeer::IsCompressed(message); }

Outcome<void> InflateMessage(grpc::ByteBuffer& message, uint64_t most, const std::shared_ptr<MemoryBudget>& budget,
                             const Cancellation* cancellation) {
  Charge together(budget);
  grpc::Slice compressed;
  if (!together.Add(message.Length()) || !message.DumpToSingleSlice(&compressed).ok()) {
    return std::unexpected(NoMemory());
  }
  auto inflated =
      Inflate({reinterpret_cast<const char*>(compressed.begin()), compressed.size()}, most, budget, cancellation);
  if (!inflated) return std::unexpected(std::move(inflated.error()));
  auto kept = std::make_unique<RequestBytes>(std::move(*inflated));
  const grpc::Slice whole(
      const_cast<char*>(kept->view().data()), kept->size(), [](void* it) { delete static_cast<RequestBytes*>(it); },
      kept.get());
  (void)kept.release();
  message = grpc::ByteBuffer(&whole, 1);
  return {};
}

}  // namespace wasinn::serve
