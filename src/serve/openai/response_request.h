// Requests for texts: /v1/responses. Each request has the earlier messages: nothing is stored.
#pragma once

#include "serve/openai/text_request.h"

namespace wasinn::serve::openai {

// Throws ApiError.
TextRequest ReadResponse(simdjson::dom::element body);

}  // namespace wasinn::serve::openai
