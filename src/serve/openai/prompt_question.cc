#include "serve/openai/prompt_question.h"

#include <algorithm>
#include <utility>

#include "serve/openai/response_request.h"
#include "serve/openai/sampling.h"

namespace wasinn::serve::openai {
namespace {

using nlohmann::json;
using simdjson::dom::element;

// Of a request that would be generated.
TextRequest AsQuestion(TextRequest request) {
  Prompts& prompts = request.prompts;
  prompts.n = 1;
  prompts.seed.reset();
  prompts.options.pop_back();
  prompts.options += R"(,"tokenize":true})";  // it has "chat" before
  return request;
}

TextRequest ReadChatQuestion(element body) { return AsQuestion(ReadChat(body)); }
TextRequest ReadResponseQuestion(element body) { return AsQuestion(ReadResponse(body)); }

// As llama.cpp's server has it.
TextRequest ReadTokenize(element body) {
  Fields fields(body);
  TextRequest request;
  request.model = fields.Text("model").value_or("");
  const element content = fields.Get("content");
  if (!content.is_string()) ThrowWrong("content", "content is no string");
  request.prompts.texts.emplace_back(static_cast<std::string_view>(content));
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
  if (!IsTokens(tokens)) ThrowWrong("tokens", "tokens is no list of integers");
  request.prompts.texts = {ToText(tokens)};
  request.prompts.options = R"({"detokenize":true})";
  fields.CheckAllRead();
  return request;
}

// A member of the JSON that the model has written, beside its tokens: of these there may be a million.
json Told(const std::string& output, const char* member) {
  const json::parser_callback_t without_tokens = [](int, json::parse_event_t event, const json& parsed) {
    return event != json::parse_event_t::key || parsed != "tokens";
  };
  json told = json::parse(output, without_tokens, false);
  return told.is_object() ? told.value(member, json()) : json();
}

struct Named {
  std::vector<std::string> words;
  PromptQuestion question;
};

std::string TellLength(const std::string& output) {
  return Dump({{"object", "response.input_tokens"}, {"input_tokens", Told(output, "count")}});
}
std::string TellPrompt(const std::string& output) { return Dump({{"prompt", Told(output, "prompt")}}); }
// As they are: a tree of them takes many times their text.
std::string TellTokens(const std::string& output) { return output; }
std::string TellText(const std::string& output) { return Dump({{"content", output}}); }

}  // namespace

const PromptQuestion* FindPromptQuestion(const std::vector<std::string>& words) {
  static const std::vector<Named> all = {{{"chat", "completions", "input_tokens"}, {ReadChatQuestion, TellLength}},
                                         {{"responses", "input_tokens"}, {ReadResponseQuestion, TellLength}},
                                         {{"apply-template"}, {ReadChatQuestion, TellPrompt}},
                                         {{"tokenize"}, {ReadTokenize, TellTokens}},
                                         {{"detokenize"}, {ReadDetokenize, TellText}}};
  const auto found = std::ranges::find(all, words, &Named::words);
  return found == all.end() ? nullptr : &found->question;
}

}  // namespace wasinn::serve::openai
