#include "serve/openai/text_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "serve/log.h"

namespace wasinn::serve::openai {

namespace {

using simdjson::dom::element;

// The most alternatives whose probabilities a client gets for each token.
constexpr int64_t kMaxTop = 20, kMaxTopOfCompletion = 5;
constexpr size_t kMaxMembers = 64, kLongestMember = 256;  // of `response_fields`

// `n`, or another field with the same meaning, is the number of texts for each prompt.
TextRequest ReadCommon(Fields& fields, std::initializer_list<std::string_view> names_of_n = {"n"}) {
  TextRequest request;
  request.model = fields.Text("model").value_or("");
  request.is_stream = fields.Flag("stream").value_or(false);
  if (auto stream = fields.Object("stream_options")) {
    request.wants_usage = stream->Flag("include_usage").value_or(false);
    stream->Ignore({"include_obfuscation", "continuous_usage_stats"});
    stream->CheckAllRead();
  }
  for (const std::string_view name : names_of_n) {
    if (const auto n = fields.Integer(name, 1, kMaxChoices)) request.prompts.n = static_cast<size_t>(*n);
  }
  ReadStreamFields(fields, request);
  request.is_verbose = request.wants_report = fields.Flag("verbose").value_or(false);
  IgnoreMoot(fields);
  return request;
}

void AddTop(std::optional<unsigned> n_top, Options& options) {
  if (n_top) options.Add("n-probs", std::to_string(*n_top));
}

std::optional<unsigned> ReadTopOfChat(Fields& fields) {
  const bool wanted = fields.Flag("logprobs").value_or(false);
  const auto n = fields.Integer("top_logprobs", 0, kMaxTop);
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

std::vector<std::string> ReadMembers(Fields& fields) {
  const auto given = fields.Find("response_fields");
  if (!given) return {};
  std::vector<std::string> members;
  bool is_good = given->is_array() && given->get_array().size() <= kMaxMembers;
  for (size_t i = 0; is_good && i < given->get_array().size(); ++i) {
    const element one = given->get_array().at(i);
    is_good = one.is_string() && one.get_string_length() <= kLongestMember;
    if (is_good) members.emplace_back(static_cast<std::string_view>(one));
  }
  if (is_good) return members;
  ThrowWrong("response_fields", "response_fields is not a list of up to {} strings of up to {} bytes", kMaxMembers,
             kLongestMember);
}

// Whether members of the answer come from the report.
bool NeedsReport(const std::vector<std::string>& members) {
  const auto is_of_it = [](const std::string& path) {
    return path == "prompt" || path.starts_with("generation_settings");
  };
  return members.empty() || std::ranges::any_of(members, is_of_it);
}

void ReadProbabilities(Fields& fields, TextRequest& request, Options& options) {
  for (const std::string_view name : {"logprobs", "n_probs"}) {  // if both are set, the second counts
    if (const auto n = fields.Integer(name, 0, kMaxTop)) request.n_top = static_cast<unsigned>(*n);
  }
  if (request.n_top == 0u) request.n_top.reset();
  AddTop(request.n_top, options);
  if (fields.Flag("post_sampling_probs").value_or(false)) options.Add("post-sampling-probs", "true");
}

}  // namespace

TextRequest ReadChat(element body) {
  Fields fields(body);
  TextRequest request = ReadCommon(fields);
  request.is_chat = true;
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
  if (const auto n = fields.Integer("logprobs", 0, kMaxTopOfCompletion)) request.n_top = static_cast<unsigned>(*n);
  AddTop(request.n_top, options);
  if (fields.Integer("best_of", 1, 20).value_or(1) != 1) ThrowWrong("best_of", "best_of must be 1");
  fields.Refuse({"echo", "suffix"});
  fields.CheckAllRead();
  TakeOptions(options, request);
  return request;
}

void IgnoreMoot(Fields& fields) {
  fields.Ignore({"user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key",
                 "prompt_cache_retention", "prediction", "id_slot"});
}

void ReadThinking(Fields& fields, Options& options) {
  auto effort = fields.Text("reasoning_effort");
  auto thinks = fields.Flag("enable_thinking");
  if (auto reasoning = fields.Object("reasoning")) {
    if (const auto given = reasoning->Text("effort")) effort = given;
    if (const auto given = reasoning->Flag("enabled")) thinks = given;
    reasoning->Ignore({"summary", "generate_summary"});
    reasoning->CheckAllRead();
  }
  if (const auto think = fields.Find("think")) {
    if (think->is_bool()) {
      thinks = static_cast<bool>(*think);
    } else if (think->is_string()) {
      effort = static_cast<std::string_view>(*think);
    } else {
      ThrowWrong("think", "think is neither true, false nor a text");
    }
  }
  const bool is_effort = effort && *effort != "none";
  if (effort && !is_effort) thinks = false;
  const auto given = fields.Find("chat_template_kwargs");
  std::string kwargs = given ? ToText(*given) : "{}";
  const bool is_said = given && given->is_object() && (*given)["reasoning_effort"].error() == simdjson::SUCCESS;
  if (is_effort && !is_said && kwargs.starts_with('{')) {  // "low" and others: templates read it
    kwargs.insert(1, fmt::format(R"("reasoning_effort":{}{})", Dump(*effort), kwargs == "{}" ? "" : ","));
  }
  if (kwargs != "{}") options.Add("chat-template-kwargs", kwargs);
  if (thinks) options.Add("enable-thinking", *thinks ? "true" : "false");
  if (const auto format = fields.Text("reasoning_format")) options.AddText("reasoning-format", *format);
}

void ReadStreamFields(Fields& fields, TextRequest& request) {
  const bool progress = fields.Flag("return_progress").value_or(false);
  const bool timings = fields.Flag("timings_per_token").value_or(false);
  request.prompts.wants_progress = request.is_stream && progress;
  request.prompts.wants_timings = request.is_stream && timings;
}

void TakeOptions(Options& options, TextRequest& request) {
  if (request.wants_report) options.Add("report", "true");
  Prompts& prompts = request.prompts;
  if (prompts.wants_progress) options.Add("prompt-steps", "true");
  prompts.seed = options.seed;
  prompts.options = options.Take();
}

TextRequest ReadLlamaCompletion(element body) {
  Fields fields(body);
  TextRequest request = ReadCommon(fields, {"n", "n_cmpl"});
  Options options;
  ReadPrompts(fields, request.prompts, options);
  ReadSampling(fields, options, kWideLimits);
  ReadMostTokens(fields, kNamesOfMostTokens, options);
  ReadResponseFormat(fields, options);
  ReadProbabilities(fields, request, options);
  request.wants_tokens = fields.Flag("return_tokens").value_or(false);
  request.members = ReadMembers(fields);
  request.wants_report = NeedsReport(request.members);
  fields.Refuse({"echo", "suffix"});
  fields.CheckAllRead();
  TakeOptions(options, request);
  return request;
}

namespace {

struct Tool {
  std::string name, json;  // as in a chat
};

// Empty: not a function.
std::optional<Tool> ReadTool(element given, const char* place) {
  Fields fields(given, place);
  const std::string type = fields.Text("type").value_or("function");
  if (type != "function") {
    LogLeftOut(place, type);
    return std::nullopt;
  }
  // null is a valid value in a schema.
  std::string text = WithoutNulls(given, {"parameters"});
  if (auto function = fields.Object("function")) return Tool{function->Text("name").value_or(""), std::move(text)};
  auto name = fields.Text("name");
  if (name) text = R"({"type":"function","function":)" + text + '}';
  return Tool{name.value_or(""), std::move(text)};
}

struct ToolChoice {
  std::string mode;                                 // the model's word; "": not set
  std::optional<std::vector<std::string>> allowed;  // only these
};

ToolChoice ReadChoice(element given) {
  if (given.is_string()) return {.mode = ToText(given), .allowed = {}};
  Fields choice(given, "tool_choice");
  const std::string type = choice.Text("type").value_or("");
  if (type == "function") {
    auto inner = choice.Object("function");
    const std::string name = (inner ? *inner : choice).Text("name").value_or("");
    return {.mode = Dump({{"type", "function"}, {"function", {{"name", name}}}}), .allowed = {}};
  }
  if (type != "allowed_tools") {
    throw ApiError{.message = fmt::format("a tool_choice of the type '{}' is not supported here", type),
                   .param = "tool_choice",
                   .code = "unsupported_parameter"};
  }
  auto inner = choice.Object("allowed_tools");
  Fields& place = inner ? *inner : choice;
  ToolChoice read{.mode = Dump(place.Text("mode").value_or("auto")), .allowed = std::vector<std::string>()};
  const element tools = place.Get("tools");
  if (!tools.is_array()) ThrowWrong("tool_choice", "tool_choice.tools is not a list");
  for (const element one : tools.get_array()) {
    if (auto tool = ReadTool(one, "tool_choice.tools")) read.allowed->push_back(std::move(tool->name));
  }
  return read;
}

// The allowed tools, as elements of a list.
std::string ListOf(element tools, const ToolChoice& choice) {
  if (!tools.is_array()) ThrowWrong("tools", "tools is not a list");
  std::string list;
  for (const element one : tools.get_array()) {
    const auto tool = ReadTool(one, "tools");
    const bool is_allowed = tool && (!choice.allowed || std::ranges::count(*choice.allowed, tool->name) > 0);
    if (is_allowed) list += (list.empty() ? "" : ",") + tool->json;
  }
  return list;
}

}  // namespace

void LogLeftOut(const char* what, std::string_view type) {
  constexpr size_t kMax = 64;
  LogOnce(fmt::format("/v1: {} of the type {} are left out: only functions are supported", what, type.substr(0, kMax)));
}

void ReadTools(Fields& fields, Options& options) {
  const auto tools = fields.Find("tools"), given = fields.Find("tool_choice");
  const auto parallel = fields.Flag("parallel_tool_calls");
  const ToolChoice choice = given ? ReadChoice(*given) : ToolChoice();
  const std::string list = tools ? ListOf(*tools, choice) : "";
  if (list.empty()) {
    const bool is_moot = choice.mode.empty() || choice.mode == R"("auto")" || choice.mode == R"("none")";
    if (!is_moot) ThrowWrong("tool_choice", "tool_choice is set, but no tool is a function");
    return;
  }
  options.Add("tools", '[' + list + ']');
  if (given) options.Add("tool-choice", choice.mode);
  if (parallel) options.Add("parallel-tool-calls", *parallel ? "true" : "false");
}

}  // namespace wasinn::serve::openai
