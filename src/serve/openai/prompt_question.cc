#include "serve/openai/prompt_question.h"

#include <algorithm>

#include "serve/openai/sampling.h"

namespace wasinn::serve::openai {
namespace {

using nlohmann::json;
using simdjson::dom::element;

// The limit of the backend llama, whose error would only say that the prompt is too long.
constexpr size_t kMaxTokenized = size_t{1} << 20;

// From a request for a text.
TextRequest AsQuestion(TextRequest request) {
  Prompts& prompts = request.prompts;
  prompts.n = 1;
  prompts.seed.reset();
  AddOption(prompts.options, "tokenize", "true");
  return request;
}

TextRequest ReadChatQuestion(element body) { return AsQuestion(ReadChat(body)); }
TextRequest ReadResponseQuestion(element body) { return AsQuestion(ReadResponse(body)); }

// As in llama.cpp's server.
TextRequest ReadTokenize(element body) {
  Fields fields(body);
  TextRequest request;
  request.model = fields.Text("model").value_or("");
  const element content = fields.Get("content");
  if (!content.is_string()) ThrowWrong("content", "content is not a string");
  const auto text = static_cast<std::string_view>(content);
  if (text.size() > kMaxTokenized) {
    ThrowWrong("content", "content has {} bytes: no more than {} are allowed", text.size(), kMaxTokenized);
  }
  request.prompts.texts.emplace_back(text);
  Options options;
  options.Add("tokenize", "true");
  options.Add("add-special", fields.Flag("add_special").value_or(false) ? "true" : "false");
  if (fields.Flag("with_pieces").value_or(false)) options.Add("with-pieces", "true");
  fields.CheckAllRead();
  request.prompts.options = options.Take();
  return request;
}

TextRequest ReadDetokenize(element body) {
  Fields fields(body);
  TextRequest request;
  request.model = fields.Text("model").value_or("");
  const element tokens = fields.Get("tokens");
  const bool are_none = tokens.is_array() && tokens.get_array().size() == 0;
  if (!are_none && !IsTokens(tokens)) ThrowWrong("tokens", "tokens is not a list of integers");
  request.prompts.texts = {are_none ? "" : ToText(tokens)};
  request.prompts.options = R"({"detokenize":true})";
  fields.CheckAllRead();
  return request;
}

// Reads a member of the model's JSON without its tokens: there may be a million.
json Member(const std::string& output, const char* member) {
  const json::parser_callback_t without_tokens = [](int, json::parse_event_t event, const json& value) {
    return event != json::parse_event_t::key || value != "tokens";
  };
  json parsed = json::parse(output, without_tokens, false);
  return parsed.is_object() ? parsed.value(member, json()) : json();
}

struct Named {
  std::vector<std::string> words;
  PromptQuestion question;
};

std::string FormatLength(const std::string& output) {
  return Dump({{"object", "response.input_tokens"}, {"input_tokens", Member(output, "count")}});
}
std::string FormatPrompt(const std::string& output) { return Dump({{"prompt", Member(output, "prompt")}}); }
// Unparsed: a tree of the tokens takes many times their text.
std::string FormatTokens(const std::string& output) { return output; }
std::string FormatText(const std::string& output) { return Dump({{"content", output}}); }

// The backend's message is about prompts; its end lists valid tokens: "… which are from 0 to 511".
std::string InvalidTokenMessage(const std::string& message) {
  const size_t range = message.find("are from ");
  return "tokens: one is not a token of this model" +
         (range == message.npos ? "" : ", whose tokens " + message.substr(range));
}

}  // namespace

bool PromptQuestion::IsOfNothing(const TextRequest& request) const {
  const Prompts& prompts = request.prompts;
  // With `add_special` the answer is not empty: it has the tokens that begin a text.
  return nothing != nullptr && prompts.texts.front().empty() && !prompts.options.contains(R"("add-special":true)");
}

ApiError PromptQuestion::ToApiError(const Failure& failure) const {
  ApiError error = openai::ToApiError(failure);
  // No context is involved: a prompt that is too long exceeds the limit of bytes or tokens.
  const bool is_long = !error.code.empty();
  error.code.clear();
  error.length.reset();
  if (!is_long && failure.code != WASINN_ERROR_INVALID_ARGUMENT) return error;
  error.param = field;
  error.message = format == FormatText && !is_long ? InvalidTokenMessage(failure.message) : failure.message;
  return error;
}

const PromptQuestion* FindPromptQuestion(const std::vector<std::string>& words) {
  static const std::vector<Named> all = {
      {{"chat", "completions", "input_tokens"}, {"messages", ReadChatQuestion, FormatLength}},
      {{"responses", "input_tokens"}, {"input", ReadResponseQuestion, FormatLength}},
      {{"apply-template"}, {"messages", ReadChatQuestion, FormatPrompt}},
      {{"tokenize"}, {"content", ReadTokenize, FormatTokens, R"({"tokens":[]})"}},
      {{"detokenize"}, {"tokens", ReadDetokenize, FormatText, R"({"content":""})"}}};
  const auto found = std::ranges::find(all, words, &Named::words);
  return found == all.end() ? nullptr : &found->question;
}

}  // namespace wasinn::serve::openai
