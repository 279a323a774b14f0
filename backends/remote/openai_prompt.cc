#include "remote/openai.h"

#include <google/protobuf/stubs/common.h>

#include <algorithm>
#include <cctype>
#include <climits>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "common/error.h"

namespace wasinn::remote {

using backend::Error;

namespace {

constexpr size_t kDeepestMessages = 32, kDeepestList = 2;

bool IsWord(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
}

// Visits texts of JSON that have such names, or are below one, without building a document.
class NamedTexts : public nlohmann::json_sax<nlohmann::json> {
 public:
  // Returns false if the text is not JSON or a text was refused. nlohmann takes a byte 0 for the end.
  bool Read(std::string_view text) { return text.find('\0') == text.npos && nlohmann::json::sax_parse(text, this); }

  bool null() override { return OnValue(); }
  bool boolean(bool /*value*/) override { return OnValue(); }
  bool number_integer(number_integer_t /*value*/) override { return OnValue(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return OnValue(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return OnValue(); }
  bool string(string_t& value) override {
    const Place& place = places_.back();
    return OnValue() && (!(place.is_named || place.is_below) || OnText(value, place.is_named));
  }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return OnObject() && Open(/*is_named=*/false); }
  bool key(string_t& name) override {
    places_.back().is_named = IsName(name);
    return true;
  }
  bool end_object() override { return Close(); }
  // Elements of a list count under the list's name.
  bool start_array(std::size_t /*size*/) override { return Open(places_.back().is_named); }
  bool end_array() override { return Close(); }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

 protected:
  explicit NamedTexts(size_t most_depth) : most_depth_(most_depth) {}
  ~NamedTexts() override = default;

  // The number of open objects and lists.
  size_t depth() const { return places_.size() - 1; }

  virtual bool IsName(std::string_view name) const = 0;
  // `is_named`: the text, or the list that contains it, has such a name.
  virtual bool OnText(std::string_view text, bool is_named) = 0;
  // Called at the beginning of any value.
  virtual bool OnValue() { return true; }
  virtual bool OnObject() { return true; }

 private:
  struct Place {
    bool is_named = false, is_below = false;
  };

  bool Open(bool is_named) {
    if (!OnValue()) return false;
    const Place& outer = places_.back();
    places_.push_back({is_named, outer.is_named || outer.is_below});
    return depth() <= most_depth_;
  }
  bool Close() {
    places_.pop_back();
    return true;
  }

  const size_t most_depth_;
  std::vector<Place> places_{1};  // the first one is the root
};

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

char Folded(char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

// "$ref", "$dynamicRef" and similar keys; references within the schema begin with '#'.
class References final : public NamedTexts {
 public:
  References() : NamedTexts(static_cast<size_t>(base::kDeepestJson)) {}

 private:
  bool IsName(std::string_view name) const override { return name.starts_with('$') && EndsInName(name, "ref"); }
  bool OnText(std::string_view text, bool is_named) override { return !is_named || text.starts_with('#'); }
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

bool EndsInName(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         std::ranges::equal(text.substr(text.size() - end.size()), end, {}, Folded, Folded);
}

bool RefersElsewhere(std::string_view text) { return !References().Read(text); }

}  // namespace wasinn::remote
