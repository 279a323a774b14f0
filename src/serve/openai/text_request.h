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
  std::string model;  // "": the only model
  Prompts prompts;
  bool is_stream = false;
  bool wants_usage = false;       // a stream has an event for it
  std::optional<unsigned> n_top;  // log probabilities: alternatives for each token; empty: no probabilities
  bool is_verbose = false;        // __verbose in the answer has llama.cpp's own form
  bool wants_report = false;      // the answer has the effective settings
  // Only in llama.cpp's own form:
  bool wants_tokens = false;         // in a whole answer
  std::vector<std::string> members;  // paths of the wanted members of the answer; empty: all
};

// Both throw ApiError.
TextRequest ReadChat(simdjson::dom::element body);
TextRequest ReadCompletion(simdjson::dom::element body);

}  // namespace wasinn::serve::openai
