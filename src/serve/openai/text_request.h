// Requests for texts (/v1/chat/completions, /v1/completions, /v1/responses and /v1/completion) and questions about
// prompts: what they ask of a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "serve/openai/fields.h"
#include "serve/threads/completion.h"

namespace wasinn::serve::openai {

// Collects keys for a model's `options`.
class Options {
 public:
  static constexpr size_t kMaxBytes = size_t{256} << 10;  // of all keys; the backends' limit

  // `value`: as JSON. Throws ApiError beyond the limit.
  void Add(std::string_view key, std::string_view value);
  void AddText(std::string_view key, const std::string& value);
  std::string Take();

  std::optional<uint32_t> seed;  // each of several texts for a prompt has its own

 private:
  std::string text_ = "{";
};

// Adds to finished options.
void AddOption(std::string& options, std::string_view key, std::string_view value);

// Limits of fields, from 0 or the negative of the limit on.
struct SamplingLimits {
  double temperature = 2, penalty = 2;
};
// llama.cpp's server has no other limits.
inline constexpr SamplingLimits kWideLimits = {.temperature = 1000, .penalty = 1000};

void ReadSampling(Fields& fields, Options& options, const SamplingLimits& limits = {});
// All names of the token limit.
inline constexpr std::string_view kNamesOfMostTokens[] = {"max_completion_tokens", "max_tokens", "n_predict",
                                                          "max_new_tokens", "num_predict"};
void ReadMostTokens(Fields& fields, std::span<const std::string_view> names, Options& options);

// Reads `response_format`, or a field of llama.cpp's server, vLLM, SGLang or Ollama; at most one. Throws ApiError, also
// for an unsupported format.
void ReadResponseFormat(Fields& fields, Options& options);
// `text.format` of /v1/responses.
void ReadTextFormat(Fields& fields, Options& options);

// The limit of the texts of all prompts of a request.
inline constexpr size_t kMaxChoices = 128;

struct Prompts {
  std::vector<std::string> texts;
  std::string options;           // for all prompts: a JSON object without a seed
  std::optional<uint32_t> seed;  // for a prompt's first text; each further text adds 1
  size_t n = 1;                  // texts for each prompt
  // Additional events of a stream:
  bool wants_progress = false;  // how far each prompt is evaluated
  bool wants_timings = false;   // with each token

  size_t size() const { return n * texts.size(); }
  // Whether text i has the same prompt as the one before it.
  bool IsAgain(size_t i) const { return i % n > 0; }
  // Called once for each, in order. Frees a prompt after its last text.
  Prompt Take(size_t i);
  // Including the memory for the result of Take.
  size_t bytes() const;
};

// A client's text: a string, a list of tokens and strings, or an object with either as `prompt_string`, or with texts
// as parts of `content`.
class GivenText {
 public:
  // `name`: the field. Throws ApiError.
  GivenText(simdjson::dom::element given, const char* name);

  bool is_tokens() const { return is_tokens_; }
  // The text itself, or a list of tokens as JSON.
  std::string& value() { return value_; }
  // As an element of a JSON list.
  std::string AsJson() const;

 private:
  void ReadObject(simdjson::dom::element given, const char* name);

  std::string value_;
  bool is_tokens_ = false;
};
// Whether it is a list of such texts.
bool AreSeveral(simdjson::dom::element given);

// `prompt`: a text or a list of texts. `n`: texts for each, within the request's limit. Throws ApiError.
void ReadPrompts(Fields& fields, Prompts& prompts, Options& options);

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
