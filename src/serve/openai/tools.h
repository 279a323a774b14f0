// The functions that a model may call, in the words of a chat.
#pragma once

#include <string_view>

#include "serve/openai/sampling.h"

namespace wasinn::serve::openai {

// `tools`, `tool_choice` and `parallel_tool_calls` of /v1/chat/completions, and of /v1/responses, where a function's members stand beside its
// type. Tools of other kinds are left out, and the log names them. Throws ApiError.
void ReadTools(Fields& fields, Options& options);
// Names in the log what is left out, once.
void LogLeftOut(const char* what, std::string_view type);

}  // namespace wasinn::serve::openai
