// Messages that clients compress. gRPC would expand them without a limit, so it passes them on unchanged.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <memory>

#include "serve/oip/inference.h"
#include "serve/tenants/memory_budget.h"
#include "serve/threads/cancellation.h"

namespace wasinn::serve {

bool IsCompressed(const grpc::ByteBuffer& message);
// Expands a compressed message: at most `most` bytes, charged to `budget` during the life of the message.
Outcome<void> InflateMessage(grpc::ByteBuffer& message, uint64_t most, const std::shared_ptr<MemoryBudget>& budget,
                             const Cancellation* cancellation);

}  // namespace wasinn::serve
