// Requests for texts: /v1/chat/completions and /v1/completions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/openai/fields.h"
#include "serve/openai/prompts.h"

namespace wasinn::serve::openai {

struct TextRequest {
  std::string model;  // "": the only one
  Prompts prompts;
  bool is_stream = false;
  bool tells_usage = false;       // a stream, in an event of its own
  std::optional<unsigned> n_top;  // log probabilities: of so many tokens beside the chosen one; nothing: of none
  bool is_verbose = false;        // the answer has in __verbose what llama.cpp's own form has
  bool tells_report = false;      // it has what was asked for, as it counts
  // In llama.cpp's own form:
  bool tells_tokens = false;         // of an answer in one
  std::vector<std::string> members;  // of the answer, and no others, by their paths; none: all
};

// Both throw ApiError.
TextRequest ReadChat(simdjson::dom::element body);
TextRequest ReadCompletion(simdjson::dom::element body);

}  // namespace wasinn::serve::openai
