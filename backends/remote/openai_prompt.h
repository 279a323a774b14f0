// Checks of prompts in JSON.
#pragma once

#include <string_view>

namespace wasinn::remote {

// These functions throw WASINN_ERROR_INVALID_ARGUMENT for prompts that a server must not get. They build no document.

// OpenAI's messages. Files must be data: URLs: the server would fetch others, which a guest names.
void CheckMessages(std::string_view text);
// A list of texts and numbers, or of lists of them.
void CheckList(std::string_view text);
// Not empty, and UTF-8.
void CheckText(std::string_view text);

}  // namespace wasinn::remote
