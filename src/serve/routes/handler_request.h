// A request for a component behind a route (wasi:http/incoming-handler).
#pragma once

#include <string>
#include <string_view>

#include "engines/engine.h"
#include "serve/http/http_message.h"
#include "serve/oip/inference.h"

namespace wasinn::serve {

// The header Host, or else the connection's local end.
std::string AuthorityOf(const Header& request, const Ends& ends);

// Refers to the arguments, which must outlive it. Headers of the connection are dropped.
Outcome<engines::HttpRequest> ToHttpRequest(const Header& request, std::string_view body, std::string_view authority,
                                            bool is_secure);

}  // namespace wasinn::serve
