// The functions that a model may call, in a chat's form.
#pragma once

#include <string_view>

#include "serve/openai/sampling.h"

namespace wasinn::serve::openai {

// Reads `tools`, `tool_choice` and `parallel_tool_calls` of /v1/chat/completions and /v1/responses, where a function's
// members are next to its type. Ignores other kinds of tools, and logs them. Throws ApiError.
void ReadTools(Fields& fields, Options& options);
// Logs once that a kind was ignored.
void LogLeftOut(const char* what, std::string_view type);

}  // namespace wasinn::serve::openai
