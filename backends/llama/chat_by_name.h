// Prompts by one of the chat templates that llama.cpp's library knows, by name or by their look.
#pragma once

#include <string>
#include <string_view>

namespace wasinn::llama {

class Model;

// `messages`: JSON, each with a role and a content. Throws WASINN_ERROR_INVALID_ARGUMENT where they are none, and
// WASINN_ERROR_UNSUPPORTED_OPERATION for a template that is none of these. `text`: a name, or a template in Jinja.
std::string ChatByName(const Model& model, std::string_view messages, const std::string& text, bool answer_follows);

}  // namespace wasinn::llama
