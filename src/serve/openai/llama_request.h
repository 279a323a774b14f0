// Requests for texts in llama.cpp's own form: /completion.
#pragma once

#include "serve/openai/text_request.h"

namespace wasinn::serve::openai {

// Throws ApiError.
TextRequest ReadLlamaCompletion(simdjson::dom::element body);

}  // namespace wasinn::serve::openai
