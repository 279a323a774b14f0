// Expands data that was compressed by gzip or deflate, over HTTP or gRPC.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "serve/http/request_body.h"
#include "serve/oip/inference.h"
#include "serve/threads/cancellation.h"

namespace wasinn::serve {

// Expands `from`: at most `most` bytes, all of them charged to `budget` before they are allocated. This takes time, so
// run it on a worker. `cancellation`: NULL if nobody cancels it.
Outcome<RequestBytes> Inflate(std::string_view from, uint64_t most, const std::shared_ptr<MemoryBudget>& budget,
                              const Cancellation* cancellation);

}  // namespace wasinn::serve
