// Checks of prompts, and of other JSON of guests.
#pragma once

#include <string_view>

namespace wasinn::remote {

// Ignores case.
bool EndsInName(std::string_view text, std::string_view end);

// Whether a JSON schema, or an object with schemas, refers outside of it: a server might fetch that. True if not JSON.
bool RefersElsewhere(std::string_view text);

// These functions throw WASINN_ERROR_INVALID_ARGUMENT for prompts that a server must not get. They build no document.

// OpenAI's messages. Files must be data: URLs: the server would fetch others, which a guest names.
void CheckMessages(std::string_view text);
// A list of texts and numbers, or of lists of them.
void CheckList(std::string_view text);
// Not empty, and UTF-8.
void CheckText(std::string_view text);

}  // namespace wasinn::remote
