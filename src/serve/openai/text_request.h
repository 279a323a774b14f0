// Requests for texts: /v1/chat/completions, /v1/completions, /v1/responses and /v1/completion.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/openai/fields.h"
#include "serve/openai/prompts.h"
#include "serve/openai/sampling.h"

namespace wasinn::serve::openai {

struct TextRequest {
  std::string model;  // "": the only model
  Prompts prompts;
  bool is_chat = false;  // for ChoicesForm
  bool is_stream = false;
  bool wants_usage = false;       // a stream has an event for it
  std::optional<unsigned> n_top;  // log probabilities: alternatives for each token; empty: no probabilities
  bool is_verbose = false;        // __verbose in the answer has llama.cpp's own form
  bool wants_report = false;      // the answer has the effective settings
  std::string id;                 // in Triton's generate extension; "": no id
  // Only in llama.cpp's own form:
  bool wants_tokens = false;         // in a whole answer
  std::vector<std::string> members;  // paths of the wanted members of the answer; empty: all
};

// These throw ApiError. /v1/responses: each request has the earlier messages, since nothing is stored.
TextRequest ReadChat(simdjson::dom::element body);
TextRequest ReadCompletion(simdjson::dom::element body);
TextRequest ReadResponse(simdjson::dom::element body);
// Requests for texts in llama.cpp's own form: /completion.
TextRequest ReadLlamaCompletion(simdjson::dom::element body);
// Triton's generate extension: `text_input`, and /v1's sampling fields, in `parameters` or next to it.
TextRequest ReadGenerate(simdjson::dom::element body);

// Ignores OpenAI's fields that change nothing here.
void IgnoreMoot(Fields& fields);
// Whether, and how long, the model should think: the fields of OpenAI, OpenRouter, Ollama and llama.cpp's server.
void ReadThinking(Fields& fields, Options& options);
// The fields for additional events of llama.cpp's server in a stream.
void ReadStreamFields(Fields& fields, TextRequest& request);
// Called last: moves the options to the request.
void TakeOptions(Options& options, TextRequest& request);

// Reads `tools`, `tool_choice` and `parallel_tool_calls` of /v1/chat/completions and /v1/responses, where a function's
// members are next to its type. Ignores other kinds of tools, and logs them. Throws ApiError.
void ReadTools(Fields& fields, Options& options);
// Logs once that a kind was ignored.
void LogLeftOut(const char* what, std::string_view type);

}  // namespace wasinn::serve::openai
