// A guest's answer by the Common Gateway Interface (RFC 3875, section 6): a header, an empty line, the body.
#pragma once

#include <string>

#include "serve/http/http_message.h"

namespace wasinn::serve {

// Without the charge. The failure's text is about the guest's error.
Outcome<Response> ReadCgiResponse(std::string output);

}  // namespace wasinn::serve
