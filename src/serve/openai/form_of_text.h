// The format of a text: a schema, a grammar, or a choice of texts.
#pragma once

#include "serve/openai/sampling.h"

namespace wasinn::serve::openai {

// Reads `response_format`, or a field of llama.cpp's server, vLLM, SGLang or Ollama; at most one. Throws ApiError, also
// for an unsupported format.
void ReadResponseFormat(Fields& fields, Options& options);
// `text.format` of /v1/responses.
void ReadTextFormat(Fields& fields, Options& options);

}  // namespace wasinn::serve::openai
