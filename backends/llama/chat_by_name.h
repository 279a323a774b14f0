// Prompts with a chat template that llama.cpp's library knows by name or content.
#pragma once

#include <string>
#include <string_view>

namespace wasinn::llama {

class Model;

// `messages`: JSON, each with a role and a content. `text`: a name, or a template in Jinja. Throws
// WASINN_ERROR_INVALID_ARGUMENT for invalid messages, and WASINN_ERROR_UNSUPPORTED_OPERATION for an unknown template.
std::string ChatByName(const Model& model, std::string_view messages, const std::string& text, bool answer_follows);

}  // namespace wasinn::llama
