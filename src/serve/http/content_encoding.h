// Compressed bodies of HTTP: requests by their Content-Encoding, answers by their clients' Accept-Encoding.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "serve/http/http_server.h"
#include "serve/oip/inference.h"
#include "serve/tenants/memory_budget.h"
#include "serve/threads/cancellation.h"
#include "serve/threads/workers.h"

namespace wasinn::serve {

// Expands `from`: at most `most` bytes, all of them charged to `budget` before they are allocated. This takes time, so
// run it on a worker. `cancellation`: NULL: it is never cancelled.
RequestBytes Inflate(std::string_view from, uint64_t most, const std::shared_ptr<MemoryBudget>& budget,
                     const Cancellation* cancellation);

// Replaces the body by its expanded form of at most `most` bytes. Else returns an error response.
asio::awaitable<std::optional<Response>> InflateRequest(Exchange& exchange, uint64_t most, Workers& workers);

// The same answer, compressed if its client accepts that and it becomes smaller.
asio::awaitable<Response> DeflateResponse(Exchange& exchange, Response response, Workers& workers);

}  // namespace wasinn::serve
