// What a guest behind a route is told of a request: the variables of the Common Gateway Interface (RFC 3875, section 4.1).
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "serve/http/http_message.h"
#include "serve/oip/inference.h"

namespace wasinn::serve {

using Variables = std::vector<std::pair<std::string, std::string>>;

// `path`: PathOf's, which is the route's and what follows it. A header whose value is not UTF-8 is an error, for WASI has only that.
Outcome<Variables> CgiVariables(const Header& request, const std::string& route, const std::string& path,
                                uint64_t body_bytes, const Ends& ends);

}  // namespace wasinn::serve
