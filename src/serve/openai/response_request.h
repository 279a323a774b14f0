// Requests for texts: /v1/responses, as far as these are text in and text out.
#pragma once

#include "serve/openai/text_request.h"

namespace wasinn::serve::openai {

// Throws ApiError.
TextRequest ReadResponse(simdjson::dom::element body);

}  // namespace wasinn::serve::openai
