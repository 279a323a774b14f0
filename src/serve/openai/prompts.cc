#include "serve/openai/text_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace wasinn::serve::openai {

namespace {

using nlohmann::json;
using simdjson::dom::element;

bool IsToken(element one) { return one.is_int64() || one.is_uint64(); }

// Whether a list of tokens may contain texts.
bool IsMixed(element given) {
  if (!given.is_array() || given.get_array().size() == 0) return false;
  return std::ranges::all_of(given.get_array().value(), [](element one) { return IsToken(one) || one.is_string(); });
}

[[noreturn]] void ThrowNoText(const char* name) {
  ThrowWrong(name,
             "{} is neither a text, a list of tokens and texts, an object with one of these as "
             "prompt_string, nor a list of these",
             name);
}

// The text of a message without images.
std::string TextOfParts(element content, const char* name) {
  if (!content.is_array() || content.get_array().size() == 0)
    ThrowWrong(name, "{}.content must be a list with at least one part", name);
  std::string text;
  for (const element one : content.get_array()) {
    Fields part(one, fmt::format("{}.content", name));
    if (part.Text("type").value_or("") != "text") ThrowWrong(name, "a part of {}.content is not a text", name);
    text += part.Text("text").value_or("");
    part.CheckAllRead();
  }
  return text;
}

}  // namespace

bool AreSeveral(element given) { return given.is_array() && std::ranges::none_of(given.get_array().value(), IsToken); }

GivenText::GivenText(element given, const char* name) {
  if (given.is_object()) {
    ReadObject(given, name);
    return;
  }
  is_tokens_ = IsMixed(given);
  if (!is_tokens_ && !given.is_string()) ThrowNoText(name);
  value_ = is_tokens_ ? ToText(given) : std::string(static_cast<std::string_view>(given));
}

void GivenText::ReadObject(element given, const char* name) {
  Fields fields(given, name);
  if (const auto content = fields.Find("content")) {
    value_ = TextOfParts(*content, name);
  } else {
    const element text = fields.Get("prompt_string");
    if (text.is_object()) ThrowNoText(name);
    *this = GivenText(text, name);
  }
  fields.Refuse({"multimodal_data"});  // images belong in a chat's messages
  fields.CheckAllRead();
}

std::string GivenText::AsJson() const { return is_tokens_ ? value_ : Dump(value_); }

void ReadPrompts(Fields& fields, Prompts& prompts, Options& options) {
  const element given = fields.Get("prompt");
  std::vector<element> all = {given};
  if (AreSeveral(given)) {
    const simdjson::dom::array list = given.get_array();
    if (prompts.n * list.size() > kMaxChoices) {  // before memory is allocated for each
      ThrowWrong(prompts.n > 1 ? "n" : "prompt",
                 "there are {} prompts with {} texts for each: expected at most {} texts", list.size(), prompts.n,
                 kMaxChoices);
    }
    all.assign(list.begin(), list.end());
  }
  if (all.empty()) ThrowNoText("prompt");
  std::vector<GivenText> texts;
  texts.reserve(all.size());
  for (const element one : all) texts.emplace_back(one, "prompt");
  // If one is a list of tokens and texts, all are.
  const bool are_tokens = std::ranges::any_of(texts, &GivenText::is_tokens);
  for (GivenText& one : texts) {
    prompts.texts.push_back(are_tokens && !one.is_tokens() ? "[" + one.AsJson() + "]" : std::move(one.value()));
  }
  if (are_tokens) options.Add("tokens", "true");
}

Prompt Prompts::Take(size_t i) {
  const bool is_last = (i + 1) % n == 0;
  std::string& text = texts[i / n];
  Prompt prompt{.prompt = is_last ? std::exchange(text, {}) : text, .options = options};
  if (seed) AddOption(prompt.options, "seed", std::to_string(*seed + static_cast<uint32_t>(i % n)));
  return prompt;
}

size_t Prompts::bytes() const {
  size_t all = options.size(), largest = 0;
  for (const std::string& text : texts) {
    all += text.size();
    largest = std::max(largest, text.size());
  }
  return all + (n > 1 ? largest : 0) + options.size();
}

namespace {

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
