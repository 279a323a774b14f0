#include "remote/openai_prompt.h"

#include <google/protobuf/stubs/common.h>

#include <algorithm>
#include <cctype>
#include <climits>

#include "common/error.h"
#include "remote/json_names.h"

namespace wasinn::remote {

using backend::Error;

namespace {

constexpr size_t kDeepestMessages = 32, kDeepestList = 2;

bool IsWord(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
}

// Accepts lists of limited depth that name nothing to fetch.
class PromptCheck final : public NamedTexts {
 public:
  PromptCheck(size_t depth, bool has_objects) : NamedTexts(depth), has_objects_(has_objects) {}

  bool names_url() const { return names_url_; }
  bool is_empty() const { return n_ == 0; }

 private:
  // Names that clients use for URLs, which a server fetches.
  bool IsName(std::string_view name) const override {
    constexpr std::string_view kEnds[] = {"url", "uri", "urls", "uris"};
    return std::ranges::any_of(kEnds, [&](std::string_view end) { return EndsInName(name, end); });
  }
  // Plain words may be next to a URL: {"url": "data:…", "detail": "low"}.
  bool OnText(std::string_view text, bool is_named) override {
    names_url_ = !text.starts_with("data:") && (is_named || !IsWord(text));
    return !names_url_;
  }
  bool OnValue() override {
    if (depth() == 1) ++n_;  // counts only elements of a list
    return true;
  }
  bool OnObject() override { return depth() > 0 && has_objects_; }

  const bool has_objects_;
  size_t n_ = 0;
  bool names_url_ = false;
};

}  // namespace

void CheckMessages(std::string_view text) {
  PromptCheck check(kDeepestMessages, /*has_objects=*/true);
  const bool is_list = check.Read(text) && !check.is_empty();
  if (check.names_url()) {
    throw Error(WASINN_ERROR_INVALID_ARGUMENT, "messages: nothing is fetched: images and sounds must be data: URLs");
  }
  if (is_list) return;
  throw Error(WASINN_ERROR_INVALID_ARGUMENT,
              R"(with "chat" the prompt is a JSON array of messages: [{"role": "user", "content": "…"}])");
}

void CheckList(std::string_view text) {
  PromptCheck check(kDeepestList, /*has_objects=*/false);
  if (check.Read(text) && !check.is_empty()) return;
  throw Error(WASINN_ERROR_INVALID_ARGUMENT,
              "with \"tokens\" or \"texts\" the prompt is a JSON array of tokens, of texts, or of lists of tokens");
}

void CheckText(std::string_view text) {
  if (text.empty()) throw Error(WASINN_ERROR_INVALID_ARGUMENT, "the prompt is empty");
  if (text.size() > INT_MAX) throw Error(WASINN_ERROR_PROMPT_TOO_LONG, "the prompt has 2 GiB or more");
  if (google::protobuf::internal::IsStructurallyValidUTF8(text.data(), static_cast<int>(text.size()))) return;
  throw Error(WASINN_ERROR_INVALID_ARGUMENT, "the prompt is not UTF-8");
}

}  // namespace wasinn::remote
