// A request's data for a guest behind a route: the variables of the Common Gateway Interface (RFC 3875, section 4.1).
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

// `path`: from PathOf, with the route and the rest. A header that is not UTF-8 is an error: WASI has nothing else.
Variables CgiVariables(const Header& request, const std::string& route, const std::string& path, uint64_t body_bytes,
                       const Ends& ends);

// Without the charge. The failure's text is about the guest's error.
Response ReadCgiResponse(std::string output);

}  // namespace wasinn::serve
