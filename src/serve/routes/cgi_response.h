// What a guest behind a route answers by the Common Gateway Interface (RFC 3875, section 6): a header, an empty line, the body.
#pragma once

#include <string>

#include "serve/http/http_message.h"

namespace wasinn::serve {

// Without the charge. A guest's mistake is the failure's text.
Outcome<Response> ReadCgiResponse(std::string output);

}  // namespace wasinn::serve
