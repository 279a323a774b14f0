// Requests for texts: /v1/chat/completions and /v1/completions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "serve/openai/fields.h"
#include "serve/openai/prompts.h"

namespace wasinn::serve::openai {

struct TextRequest {
  std::string model;  // "": the only one
  Prompts prompts;
  bool is_stream = false;
  bool tells_usage = false;       // a stream, in an event of its own
  std::optional<unsigned> n_top;  // log probabilities: of so many tokens beside the chosen one; nothing: of none
};

// Both throw ApiError.
TextRequest ReadChat(simdjson::dom::element body);
TextRequest ReadCompletion(simdjson::dom::element body);

}  // namespace wasinn::serve::openai
