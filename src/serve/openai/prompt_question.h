// Requests about a prompt that generate nothing: its length, its tokens, and the text that a template makes of a chat.
#pragma once

#include <string>
#include <vector>

#include "serve/openai/text_request.h"

namespace wasinn::serve::openai {

struct PromptQuestion {
  const char* field;  // the prompt's field
  // Throws ApiError.
  TextRequest (*read)(simdjson::dom::element body);
  // Makes the answer from the model's output.
  std::string (*format)(const std::string& output);
  // The answer for an empty text, without asking the model. NULL: an empty text is refused.
  const char* nothing = nullptr;

  bool IsOfNothing(const TextRequest& request) const;
  // The error if the model does not answer.
  ApiError ToApiError(const Failure& failure) const;
};

// By the words of a path after /v1. NULL: another path.
const PromptQuestion* FindPromptQuestion(const std::vector<std::string>& words);

}  // namespace wasinn::serve::openai
