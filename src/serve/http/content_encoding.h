// Compressed bodies of HTTP: requests by their Content-Encoding, answers by their clients' Accept-Encoding.
#pragma once

#include <optional>

#include "serve/http/http_server.h"
#include "serve/threads/workers.h"

namespace wasinn::serve {

// Replaces the body by its expanded form of at most `most` bytes. Else returns an error response.
asio::awaitable<std::optional<Response>> InflateRequest(Exchange& exchange, uint64_t most, Workers& workers);

// The same answer, compressed if its client accepts that and it becomes smaller.
asio::awaitable<Response> DeflateResponse(Exchange& exchange, Response response, Workers& workers);

}  // namespace wasinn::serve
