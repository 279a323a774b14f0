// What clients ask of a prompt, for which nothing is generated: its length, its tokens, and the text that a template makes of a chat.
#pragma once

#include <string>
#include <vector>

#include "serve/openai/text_request.h"

namespace wasinn::serve::openai {

struct PromptQuestion {
  // Throws ApiError.
  TextRequest (*read)(simdjson::dom::element body);
  // The answer, by what the model has written.
  std::string (*tell)(const std::string& output);
};

// By the words of a path behind /v1. NULL: it is no such question.
const PromptQuestion* FindPromptQuestion(const std::vector<std::string>& words);

}  // namespace wasinn::serve::openai
