// Bodies of HTTP that travel compressed: requests by their Content-Encoding, answers by their clients' Accept-Encoding.
#pragma once

#include <optional>

#include "serve/http/http_server.h"
#include "serve/threads/workers.h"

namespace wasinn::serve {

// From here on the body is what it was before it was compressed, and has no more than `most` bytes. Else it is answered with what is wrong.
asio::awaitable<std::optional<Response>> InflateRequest(Exchange& exchange, uint64_t most, Workers& workers);

// The same answer, compressed if its client takes that, and if it is smaller then.
asio::awaitable<Response> DeflateResponse(Exchange& exchange, Response response, Workers& workers);

}  // namespace wasinn::serve
