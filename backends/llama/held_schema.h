// JSON schemas that a grammar can enforce.
#pragma once

#include <string>

namespace wasinn::llama {

// llama.cpp makes a grammar of a schema, and silently ignores keywords that it does not know. This returns an
// equivalent schema in keywords that it knows, or a narrower one, which allows nothing that the given one forbids.
// `key`: its name in messages. Throws WASINN_ERROR_INVALID_ARGUMENT with the unsupported keyword and its place, and
// WASINN_ERROR_TOO_LARGE for a result that becomes large. Text that is not JSON is returned unchanged.
std::string HeldSchema(const char* key, const std::string& schema);

// The same for the parameters of each function in OpenAI's list of tools, except those with "strict": false.
std::string HeldTools(const std::string& tools);

}  // namespace wasinn::llama
