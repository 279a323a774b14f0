// Messages that clients compress. gRPC would expand them without a limit, so it hands them over as they came.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <memory>

#include "serve/oip/inference.h"
#include "serve/tenants/memory_budget.h"

namespace wasinn::serve {

bool IsCompressed(const grpc::ByteBuffer& message);
// One that is, becomes what it was before: no more than `most` bytes, charged to `budget` for as long as the message is there.
Outcome<void> InflateMessage(grpc::ByteBuffer& message, uint64_t most, const std::shared_ptr<MemoryBudget>& budget);

}  // namespace wasinn::serve
