#include "remote/openai_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "remote/json_text.h"
#include "remote/openai_prompt.h"

namespace wasinn::remote {

namespace {

const char* PathOf(Api api) {
  switch (api) {
    case kChat:
      return "/chat/completions";
    case kCompletions:
      return "/completions";
    case kEmbeddings:
      return "/embeddings";
  }
  return "";
}

// The text before and after the prompt.
std::string_view Before(const LanguageSettings& settings) {
  if (settings.api() != kChat) return settings.api() == kCompletions ? R"("prompt":)" : R"("input":)";
  return settings.has_messages() ? R"("messages":)" : R"("messages":[{"role":"user","content":)";
}
std::string_view Behind(const LanguageSettings& settings) {
  return settings.api() == kChat && !settings.has_messages() ? "}]}" : "}";
}

}  // namespace

LanguageBody::LanguageBody(std::string_view model, const LanguageSettings& settings, std::string_view prompt)
    : prompt_(prompt),
      is_text_(!settings.has_list() && !(settings.api() == kChat && settings.has_messages())),
      path_(PathOf(settings.api())),
      tail_(Behind(settings)) {
  if (is_text_) {
    CheckText(prompt);
  } else if (settings.has_list()) {
    CheckList(prompt);
  } else {
    CheckMessages(prompt);
  }
  head_ = fmt::format(R"({{"model":{}{},{})", nlohmann::json(model).dump(), settings.Fields(), Before(settings));
  bytes_ = head_.size() + tail_.size() + (is_text_ ? EscapedBytes(prompt) + 2 : prompt.size());
}

void LanguageBody::Write(char* to) const {
  to = std::ranges::copy(head_, to).out;
  if (is_text_) {
    *to++ = '"';
    to = WriteEscaped(prompt_, to);
    *to++ = '"';
  } else {
    to = std::ranges::copy(prompt_, to).out;
  }
  std::ranges::copy(tail_, to);
}

}  // namespace wasinn::remote
