// Prompts that are JSON.
#pragma once

#include <string_view>

namespace wasinn::remote {

// What these throw for what a server must not see: WASINN_ERROR_INVALID_ARGUMENT. They make nothing of the JSON.

// OpenAI's messages. Files in them are there themselves, as data: URLs: others would have the server fetch what a guest
// names.
void CheckMessages(std::string_view text);
// A list of texts and of numbers, or of such lists.
void CheckList(std::string_view text);
// UTF-8, and not empty.
void CheckText(std::string_view text);

}  // namespace wasinn::remote
