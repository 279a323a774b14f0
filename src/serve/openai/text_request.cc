#include "serve/openai/text_request.h"

#include <fmt/format.h>

#include <utility>

#include "serve/openai/sampling.h"

namespace wasinn::serve::openai {
namespace {

using simdjson::dom::element;

constexpr int64_t kMostTop = 20, kMostTopOfCompletion = 5;

// What every request for a text has.
TextRequest ReadCommon(Fields& fields) {
  TextRequest request;
  request.model = fields.Text("model").value_or("");
  request.is_stream = fields.Flag("stream").value_or(false);
  if (auto stream = fields.Object("stream_options")) {
    if (!request.is_stream) ThrowWrong("stream_options", "stream_options is for a stream");
    request.tells_usage = stream->Flag("include_usage").value_or(false);
    stream->Ignore({"include_obfuscation"});
    stream->CheckAllRead();
  }
  if (fields.Integer("n", 1, 128).value_or(1) != 1) ThrowWrong("n", "n is 1 here: there is one answer to a request");
  fields.Ignore({"user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key",
                 "prompt_cache_retention", "prediction"});
  return request;
}

void AddTop(std::optional<unsigned> n_top, Options& options) {
  if (n_top) options.Add("n-probs", std::to_string(*n_top));
}

// "low" and others: what a template makes of it.
void ReadThinking(Fields& fields, Options& options) {
  const auto effort = fields.Text("reasoning_effort");
  auto kwargs = fields.Find("chat_template_kwargs");
  if (effort && kwargs) {
    ThrowWrong("reasoning_effort", "there are both reasoning_effort and chat_template_kwargs");
  }
  if (kwargs) options.Add("chat-template-kwargs", ToText(*kwargs));
  if (effort && *effort == "none") {
    options.Add("enable-thinking", "false");
  } else if (effort) {
    options.Add("chat-template-kwargs", Dump({{"reasoning_effort", *effort}}));
  }
  if (const auto thinks = fields.Flag("enable_thinking")) {
    if (effort) ThrowWrong("enable_thinking", "there are both reasoning_effort and enable_thinking");
    options.Add("enable-thinking", *thinks ? "true" : "false");
  }
  if (const auto format = fields.Text("reasoning_format")) options.AddText("reasoning-format", *format);
}

void ReadTools(Fields& fields, Options& options) {
  const auto tools = fields.Find("tools");
  const auto choice = fields.Find("tool_choice");
  const auto parallel = fields.Flag("parallel_tool_calls");
  const bool has_tools = tools && !(tools->is_array() && tools->get_array().size() == 0);
  if (!has_tools) {
    const bool is_moot =
        !choice || (choice->is_string() && (ToText(*choice) == R"("auto")" || ToText(*choice) == R"("none")"));
    if (!is_moot) ThrowWrong("tool_choice", "there is a tool_choice, and there are no tools");
    return;
  }
  options.Add("tools", ToText(*tools));
  if (choice) options.Add("tool-choice", ToText(*choice));
  if (parallel) options.Add("parallel-tool-calls", *parallel ? "true" : "false");
}

std::optional<unsigned> ReadTopOfChat(Fields& fields) {
  const bool wanted = fields.Flag("logprobs").value_or(false);
  const auto n = fields.Integer("top_logprobs", 0, kMostTop);
  if (n && *n > 0 && !wanted) ThrowWrong("top_logprobs", "top_logprobs is for a request with logprobs");
  if (!wanted) return std::nullopt;
  return static_cast<unsigned>(n.value_or(0));
}

// Only texts: there is no list of answers, and tokens are a model's own.
std::string ReadPromptOf(Fields& fields) {
  element prompt = fields.Get("prompt");
  if (prompt.is_array() && prompt.get_array().size() == 1) prompt = prompt.get_array().at(0);
  if (prompt.is_string()) return std::string(static_cast<std::string_view>(prompt));
  ThrowWrong("prompt", "prompt is no string, nor a list of one");
}

}  // namespace

TextRequest ReadChat(element body) {
  Fields fields(body);
  TextRequest request = ReadCommon(fields);
  Options options;
  options.Add("chat", "true");
  const element messages = fields.Get("messages");
  if (!messages.is_array() || messages.get_array().size() == 0) ThrowWrong("messages", "messages is no list of any");
  request.prompt.prompt = ToText(messages);
  ReadSampling(fields, options);
  ReadMostTokens(fields, {"max_completion_tokens", "max_tokens", "n_predict"}, options);
  ReadResponseFormat(fields, options);
  ReadTools(fields, options);
  ReadThinking(fields, options);
  if (const auto adds = fields.Flag("add_generation_prompt")) {
    options.Add("add-generation-prompt", *adds ? "true" : "false");
  }
  request.n_top = ReadTopOfChat(fields);
  AddTop(request.n_top, options);
  if (const auto modalities = fields.Json("modalities"); modalities && *modalities != R"(["text"])") {
    ThrowWrong("modalities", "modalities are texts alone");
  }
  fields.Refuse({"audio", "functions", "function_call", "verbosity", "web_search_options", "moderation"});
  fields.CheckAllRead();
  request.prompt.options = options.Take();
  return request;
}

TextRequest ReadCompletion(element body) {
  Fields fields(body);
  TextRequest request = ReadCommon(fields);
  Options options;
  request.prompt.prompt = ReadPromptOf(fields);
  ReadSampling(fields, options);
  ReadMostTokens(fields, {"max_tokens", "n_predict"}, options);
  ReadResponseFormat(fields, options);
  if (const auto n = fields.Integer("logprobs", 0, kMostTopOfCompletion)) request.n_top = static_cast<unsigned>(*n);
  AddTop(request.n_top, options);
  if (fields.Integer("best_of", 1, 20).value_or(1) != 1) ThrowWrong("best_of", "best_of is 1 here");
  fields.Refuse({"echo", "suffix"});
  fields.CheckAllRead();
  request.prompt.options = options.Take();
  return request;
}

}  // namespace wasinn::serve::openai
