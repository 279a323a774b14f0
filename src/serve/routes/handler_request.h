// What a component behind a route is told of a request (wasi:http/incoming-handler).
#pragma once

#include <string>
#include <string_view>

#include "engines/engine.h"
#include "serve/http/http_message.h"
#include "serve/oip/inference.h"

namespace wasinn::serve {

// Who is asked: the header Host, or else the connection's end.
std::string AuthorityOf(const Header& request, const Ends& ends);

// Shows these, which outlive it. Headers of the connection are left out.
Outcome<engines::HttpRequest> ToHttpRequest(const Header& request, std::string_view body, std::string_view authority,
                                            bool is_secure);

}  // namespace wasinn::serve
