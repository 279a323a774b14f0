#include "serve/openai/prompts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace wasinn::serve::openai {
namespace {

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

}  // namespace wasinn::serve::openai
