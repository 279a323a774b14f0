#include "serve/openai/text_request.h"

#include <fmt/format.h>

#include "serve/openai/common_request.h"
#include "serve/openai/form_of_text.h"
#include "serve/openai/sampling.h"
#include "serve/openai/tools.h"

namespace wasinn::serve::openai {
namespace {

using simdjson::dom::element;

constexpr int64_t kMostTopOfCompletion = 5;

std::optional<unsigned> ReadTopOfChat(Fields& fields) {
  const bool wanted = fields.Flag("logprobs").value_or(false);
  const auto n = fields.Integer("top_logprobs", 0, kMostTop);
  if (n && *n > 0 && !wanted) ThrowWrong("top_logprobs", "top_logprobs needs logprobs");
  if (!wanted) return std::nullopt;
  return static_cast<unsigned>(n.value_or(0));
}

// Continues a last message of the assistant, like llama.cpp's server.
void ReadContinuation(Fields& fields, Options& options) {
  std::string what = "auto";
  if (const auto given = fields.Find("continue_final_message")) {
    const std::string text = ToText(*given);
    if (text == "true") {
      what = "always";
    } else if (text == R"("content")" || text == R"("reasoning_content")") {
      what = text.substr(1, text.size() - 2);
    } else if (text != "false") {
      ThrowWrong("continue_final_message",
                 "continue_final_message is neither a boolean, content nor reasoning_content");
    }
  }
  options.AddText("continue-final-message", what);
}

}  // namespace

TextRequest ReadChat(element body) {
  Fields fields(body);
  TextRequest request = ReadCommon(fields);
  Options options;
  options.Add("chat", "true");
  const element messages = fields.Get("messages");
  if (!messages.is_array() || messages.get_array().size() == 0)
    ThrowWrong("messages", "messages must be a list with at least one message");
  request.prompts.texts = {WithoutNulls(messages, {"arguments"})};
  ReadSampling(fields, options);
  ReadMostTokens(fields, kNamesOfMostTokens, options);
  ReadResponseFormat(fields, options);
  ReadTools(fields, options);
  ReadThinking(fields, options);
  if (const auto adds = fields.Flag("add_generation_prompt")) {
    options.Add("add-generation-prompt", *adds ? "true" : "false");
  }
  ReadContinuation(fields, options);
  request.n_top = ReadTopOfChat(fields);
  AddTop(request.n_top, options);
  if (const auto modalities = fields.Json("modalities"); modalities && *modalities != R"(["text"])") {
    ThrowWrong("modalities", "modalities can only be text");
  }
  fields.Refuse({"audio", "functions", "function_call"});
  fields.CheckAllRead();
  TakeOptions(options, request);
  return request;
}

TextRequest ReadCompletion(element body) {
  Fields fields(body);
  TextRequest request = ReadCommon(fields);
  Options options;
  ReadPrompts(fields, request.prompts, options);
  ReadSampling(fields, options);
  ReadMostTokens(fields, kNamesOfMostTokens, options);
  ReadResponseFormat(fields, options);
  if (const auto n = fields.Integer("logprobs", 0, kMostTopOfCompletion)) request.n_top = static_cast<unsigned>(*n);
  AddTop(request.n_top, options);
  if (fields.Integer("best_of", 1, 20).value_or(1) != 1) ThrowWrong("best_of", "best_of must be 1");
  fields.Refuse({"echo", "suffix"});
  fields.CheckAllRead();
  TakeOptions(options, request);
  return request;
}

}  // namespace wasinn::serve::openai
