#include "remote/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/number.h"
#include "common/error.h"

namespace wasinn::remote {

namespace {

constexpr size_t kMaxDepth = 64;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void JsonCursor::Refuse(const std::string& why) {
  throw backend::Error(WASINN_ERROR_RUNTIME, "the server's answer is not JSON of the protocol: " + why);
}

char JsonCursor::Peek() {
  while (at_ < text_.size() && std::string_view(" \t\r\n").contains(text_[at_])) ++at_;
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonCursor::Take(char c) {
  if (Peek() != c || at_ == text_.size()) return false;
  ++at_;
  return true;
}

void JsonCursor::Expect(char c) {
  if (!Take(c)) Refuse(fmt::format("expected '{}' at byte {}", c, at_));
}

void JsonCursor::ExpectEnd() {
  (void)Peek();
  if (at_ != text_.size()) Refuse(fmt::format("more than one value, at byte {}", at_));
}

std::string JsonCursor::String(size_t most) {
  (void)Peek();
  const std::string_view quoted = SkipString(), plain = quoted.substr(1, quoted.size() - 2);
  constexpr size_t kLongestEscape = 6;
  if (plain.size() / kLongestEscape > most) Refuse(fmt::format("a text of more than {} bytes", most));
  const bool is_plain =
      std::ranges::all_of(plain, [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '\\'; });
  std::string text(is_plain ? plain : "");
  if (!is_plain) {
    auto parsed = nlohmann::json::parse(quoted, nullptr, /*allow_exceptions=*/false);
    if (!parsed.is_string()) Refuse(fmt::format("an invalid string before byte {}", at_));
    text = std::move(parsed.get_ref<std::string&>());
  }
  if (text.size() > most) Refuse(fmt::format("a text of more than {} bytes", most));
  return text;
}

std::string_view JsonCursor::SkipString() {
  const size_t begin = at_;
  Expect('"');
  while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
  if (at_ >= text_.size()) Refuse("a string without an end");
  ++at_;
  return text_.substr(begin, at_ - begin);
}

void JsonCursor::TakeDigits() {
  const size_t begin = at_;
  while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
  if (at_ == begin) Refuse(fmt::format("expected a number at byte {}", begin));
}

std::string_view JsonCursor::Number() {
  (void)Peek();
  const size_t begin = at_;
  const auto next = [this](std::string_view any) { return at_ < text_.size() && any.contains(text_[at_]); };
  if (next("-")) ++at_;
  const bool is_zero = next("0");
  const size_t digits = at_;
  TakeDigits();
  if (is_zero && at_ - digits > 1) Refuse("a number that begins with 0");
  if (next(".")) {
    ++at_;
    TakeDigits();
  }
  if (next("eE")) {
    ++at_;
    if (next("+-")) ++at_;
    TakeDigits();
  }
  return text_.substr(begin, at_ - begin);
}

int64_t JsonCursor::Integer() {
  const std::string text = Peek() == '"' ? String(32) : std::string();
  const std::string_view number = text.empty() ? Number() : text;
  const auto value = base::ParseNumber<int64_t>(number);
  if (!value) Refuse(fmt::format("'{}' is not a 64-bit integer", number.substr(0, 40)));
  return *value;
}

bool JsonCursor::TakeWord(std::string_view word) {
  (void)Peek();
  if (!text_.substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

bool JsonCursor::Bool() {
  if (TakeWord("true")) return true;
  if (!TakeWord("false")) Refuse(fmt::format("expected true or false at byte {}", at_));
  return false;
}

// Not recursive, because the server chooses the depth.
std::string_view JsonCursor::Skip() {
  (void)Peek();
  const size_t begin = at_;
  std::vector<char> closing;
  const auto key = [this] {
    (void)Peek();
    SkipString();
    Expect(':');
  };
  do {
    bool is_opened = false;
    if (const char c = Peek(); c == '[' || c == '{') {
      if (closing.size() == kMaxDepth) Refuse(fmt::format("more than {} levels", kMaxDepth));
      ++at_;
      closing.push_back(c == '[' ? ']' : '}');
      is_opened = Peek() != closing.back();
      if (is_opened && c == '{') key();
    } else if (c == '"') {
      SkipString();
    } else if (!TakeWord("true") && !TakeWord("false") && !TakeWord("null")) {
      Number();
    }
    if (is_opened) continue;
    while (!closing.empty() && Take(closing.back())) closing.pop_back();
    if (closing.empty()) break;
    Expect(',');
    if (closing.back() == '}') key();
  } while (true);
  return text_.substr(begin, at_ - begin);
}

}  // namespace wasinn::remote
