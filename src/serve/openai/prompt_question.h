// What clients ask of a prompt, for which nothing is generated: its length, its tokens, and the text that a template makes of a chat.
#pragma once

#include <string>
#include <vector>

#include "serve/openai/text_request.h"

namespace wasinn::serve::openai {

struct PromptQuestion {
  const char* field;  // what is asked about
  // Throws ApiError.
  TextRequest (*read)(simdjson::dom::element body);
  // The answer, by what the model has written.
  std::string (*tell)(const std::string& output);
  // What is told of nothing, for which no model is asked. NULL: that is wrong.
  const char* nothing = nullptr;

  bool IsOfNothing(const TextRequest& request) const;
  // Why the model does not answer.
  ApiError ToApiError(const Failure& failure) const;
};

// By the words of a path behind /v1. NULL: it is no such question.
const PromptQuestion* FindPromptQuestion(const std::vector<std::string>& words);

}  // namespace wasinn::serve::openai
