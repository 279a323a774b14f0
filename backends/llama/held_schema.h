// JSON schemas that a grammar holds.
#pragma once

#include <string>

namespace wasinn::llama {

// llama.cpp makes a grammar of a schema, and leaves out in silence what it does not know. This is the same schema in the
// words that it knows, or a narrower one: all that it allows, the given one allows. `key`: what to call it. Throws
// WASINN_ERROR_INVALID_ARGUMENT with the keyword that cannot be held and its place, and WASINN_ERROR_TOO_LARGE for a schema that
// becomes large. Text that is no JSON comes back as it is.
std::string HeldSchema(const char* key, const std::string& schema);

// The same for the parameters of each function in OpenAI's list of tools, but of those with "strict": false.
std::string HeldTools(const std::string& tools);

}  // namespace wasinn::llama
