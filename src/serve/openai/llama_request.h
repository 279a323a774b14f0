// Requests for texts in the form that llama.cpp's server has of its own: /completion.
#pragma once

#include "serve/openai/text_request.h"

namespace wasinn::serve::openai {

// Throws ApiError.
TextRequest ReadLlamaCompletion(simdjson::dom::element body);

}  // namespace wasinn::serve::openai
