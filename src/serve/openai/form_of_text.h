// What a text has to be like: a schema, a grammar, or one of several texts.
#pragma once

#include <string_view>

#include "serve/openai/sampling.h"

namespace wasinn::serve::openai {

// `response_format`, and what llama.cpp's server, vLLM, SGLang and Ollama have for it. One of them at most. Throws ApiError, also for a form
// that nobody here can hold.
void ReadResponseFormat(Fields& fields, Options& options);
// `text.format` of /v1/responses.
void ReadTextFormat(Fields& fields, Options& options);

}  // namespace wasinn::serve::openai
