#include "llama/schema_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <vector>

namespace wasinn::llama {

namespace {

struct Range {
  uint32_t first, last;
};
using Ranges = std::vector<Range>;

constexpr uint32_t kLast = 0x10FFFF;
const Ranges kDigits = {{'0', '9'}}, kWord = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
// Characters that a JSON string contains without escapes.
const Ranges kPlain = {{0x20, 0x21}, {0x23, 0x5B}, {0x5D, 0xD7FF}, {0xE000, kLast}};
const Ranges kSpaces = {{'\t', '\r'}, {' ', ' '}, {0xA0, 0xA0}, {0x2028, 0x2029}, {0x3000, 0x3000}};

Ranges Not(Ranges ranges) {
  std::ranges::sort(ranges, {}, &Range::first);
  Ranges others;
  uint32_t next = 0;
  for (const Range& range : ranges) {
    if (range.first > next) others.push_back({next, range.first - 1});
    next = std::max(next, range.last + 1);
  }
  if (next <= kLast) others.push_back({next, kLast});
  return others;
}

Ranges Plain(const Ranges& ranges) {
  Ranges both;
  for (const Range& a : ranges) {
    for (const Range& b : kPlain) {
      if (a.first <= b.last && b.first <= a.last)
        both.push_back({std::max(a.first, b.first), std::min(a.last, b.last)});
    }
  }
  return both;
}

// Ends at a construct that it does not understand.
class PatternReader {
 public:
  explicit PatternReader(std::string_view text) : text_(text) {}

  std::optional<std::string> Read() {
    const bool from_start = Take('^');
    bool to_end = false;
    std::string inner;
    size_t depth = 0;
    while (good_ && at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '$' && at_ + 1 == text_.size()) {
        to_end = true;
        ++at_;
      } else if (c == '(') {
        inner += Open();
        ++depth;
      } else if (c == ')') {
        good_ = depth-- > 0;
        inner += text_[at_++];
      } else {
        inner += Piece();
      }
    }
    if (!good_ || depth != 0) return std::nullopt;
    if (from_start && to_end) return '^' + inner + '$';
    const std::string any = Class(kPlain) + '*';
    return '^' + (from_start ? "" : any) + '(' + inner + ')' + (to_end ? "" : any) + '$';
  }

 private:
  bool Take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string Fail() {
    good_ = false;
    return {};
  }

  std::string Open() {
    ++at_;
    if (!Take('?')) return "(";
    return Take(':') ? "(" : Fail();
  }

  std::string Piece() {
    const char c = text_[at_];
    if (c == '[') return Class(Brackets());
    if (std::string_view("*+?|").find(c) != std::string_view::npos) return std::string(1, text_[at_++]);
    if (c == '{') return Braces();
    if (c == '^' || c == '$' || c == '}' || c == ']') return Fail();
    if (c == '.') {
      ++at_;
      return Class(kPlain);
    }
    Ranges many;
    const uint32_t one = Character(&many);
    return many.empty() ? Literal(one) : Class(many);
  }

  std::string Braces() {
    const size_t end = text_.find('}', at_);
    if (end == std::string_view::npos) return Fail();
    const std::string_view inner = text_.substr(at_ + 1, end - at_ - 1);
    if (inner.empty() || inner.front() == ',' || inner.find_first_not_of("0123456789,") != std::string_view::npos)
      return Fail();
    at_ = end + 1;
    const size_t comma = inner.find(',');
    if (comma == std::string_view::npos || comma + 1 == inner.size()) return '{' + std::string(inner) + '}';
    // llama.cpp ignores larger numbers.
    constexpr int kMaxTimes = 2000;
    const std::string_view most = inner.substr(comma + 1);
    if (most.find(',') != std::string_view::npos || most.size() > 9) return Fail();
    return fmt::format("{{{},{}}}", inner.substr(0, comma), std::min(std::stoi(std::string(most)), kMaxTimes));
  }

  // One character, or the class of an escape.
  uint32_t Character(Ranges* many) {
    if (text_[at_] != '\\') return Utf8();
    if (++at_ >= text_.size()) return Bad();
    const char c = text_[at_++];
    switch (c) {
      case 'd':
        *many = kDigits;
        return 0;
      case 'D':
        *many = Not(kDigits);
        return 0;
      case 'w':
        *many = kWord;
        return 0;
      case 'W':
        *many = Not(kWord);
        return 0;
      case 's':
        *many = kSpaces;
        return 0;
      case 'S':
        *many = Not(kSpaces);
        return 0;
      case 't':
        return '\t';
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 'f':
        return '\f';
      case 'v':
        return '\v';
      case 'x':
        return Hex(2);
      case 'u':
        return Hex(4);
      default:
        // Escaped letters and digits have other meanings.
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80
                   ? Bad()
                   : static_cast<uint32_t>(c);
    }
  }

  uint32_t Bad() {
    good_ = false;
    return 0;
  }

  uint32_t Hex(size_t digits) {
    uint32_t value = 0;
    for (size_t i = 0; i < digits; ++i, ++at_) {
      if (at_ >= text_.size() || std::isxdigit(static_cast<unsigned char>(text_[at_])) == 0) return Bad();
      value = value * 16 + static_cast<uint32_t>(std::stoi(std::string(1, text_[at_]), nullptr, 16));
    }
    // Half of a surrogate pair.
    return value >= 0xD800 && value <= 0xDFFF ? Bad() : value;
  }

  // JSON's parser has checked the UTF-8.
  uint32_t Utf8() {
    const auto first = static_cast<unsigned char>(text_[at_++]);
    if (first < 0x80) return first;
    const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
    uint32_t value = first & (0x3FU >> more);
    for (int i = 0; i < more && at_ < text_.size(); ++i) {
      value = value << 6 | (static_cast<unsigned char>(text_[at_++]) & 0x3FU);
    }
    return value;
  }

  Ranges Brackets() {
    ++at_;
    const bool negated = Take('^');
    Ranges ranges;
    while (good_) {
      if (at_ >= text_.size()) {
        Bad();
        break;
      }
      if (Take(']')) break;
      Ranges many;
      const uint32_t first = Character(&many);
      if (!many.empty()) {
        ranges.insert(ranges.end(), many.begin(), many.end());
        continue;
      }
      uint32_t last = first;
      if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
        ++at_;
        last = Character(&many);
        if (!many.empty() || last < first) Bad();
      }
      ranges.push_back({first, last});
    }
    return negated ? Not(ranges) : ranges;
  }

  std::string Class(const Ranges& ranges) {
    std::string text = "[";
    for (const Range& range : Plain(ranges)) text += fmt::format("\\U{:08X}-\\U{:08X}", range.first, range.last);
    return text.size() == 1 ? Fail() : text + ']';
  }

  // In JSON's form.
  std::string Literal(uint32_t c) {
    if (c < 0x80 && (std::isalnum(static_cast<int>(c)) != 0 || c == ' ' || c == '_'))
      return std::string(1, static_cast<char>(c));
    switch (c) {
      case '"':
        return R"((\\[\U00000022-\U00000022]))";
      case '\\':
        return R"((\\\\))";
      case '\t':
        return R"((\\t))";
      case '\n':
        return R"((\\n))";
      case '\r':
        return R"((\\r))";
      default:
        return Class({{c, c}});
    }
  }

  const std::string_view text_;
  size_t at_ = 0;
  bool good_ = true;
};

}  // namespace

std::optional<std::string> HeldPattern(std::string_view pattern) { return PatternReader(pattern).Read(); }

}  // namespace wasinn::llama
