#include "llama/grammar_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "common/error.h"
#include "llama/grammar_ways.h"

namespace wasinn::llama {

using backend::Error;

namespace {

// Of a repetition; llama.cpp refuses more, and takes a larger `n` of {m,n} for none.
constexpr uint64_t kMostTimes = 2000, kNoMost = UINT64_MAX;
// An element has 8 bytes. The grammar is held as it is parsed and once more as it is used, and a growing list may have
// twice what is in it. Then what a rule takes beside its elements, and its name.
constexpr uint64_t kElementBytes = uint64_t{8} * 4, kRuleBytes = 256;

[[noreturn]] void RefuseGrammar(uint64_t bytes) {
  throw Error(WASINN_TOO_LARGE,
              fmt::format("grammar: its repetitions, written out, take {} bytes or more: no more than {} are allowed",
                          bytes, kMostGrammarBytes));
}

// Behind each character lie `stacks` bytes, and beyond kReckonedCharacters that many times more.
uint64_t LongestToken(uint64_t stacks) {
  const uint64_t times = kMostTokenBytes / std::max<uint64_t>(stacks, 1);
  if (times <= kReckonedCharacters) return std::max(times, kLeastLongest);
  return static_cast<uint64_t>(std::sqrt(static_cast<double>(times * kReckonedCharacters)));
}

// Follows llama.cpp's parser (llama_grammar_parser::parse_sequence), and counts what that makes.
class GrammarCounter {
 public:
  explicit GrammarCounter(std::string_view text) : text_(text) {}

  GrammarSize Count() {
    Open(RuleOf(""));  // what comes before the first rule: nothing, in a grammar that is right
    while (at_ < text_.size()) {
      Item();
      if (bytes_ > kMostGrammarBytes) RefuseGrammar(bytes_);
    }
    const StackSize stacks = StackBytes(rules_);
    return {.bytes = bytes_ + stacks.bytes, .longest_token = LongestToken(stacks.anywhere)};
  }

 private:
  // The rule that is open at one depth of parentheses, and how many elements its last item has.
  struct Depth {
    uint32_t rule = 0;
    uint64_t item = 0;
  };

  uint32_t NewRule() {
    rules_.emplace_back();
    return static_cast<uint32_t>(rules_.size() - 1);
  }
  uint32_t RuleOf(std::string_view name) {
    const auto [found, is_new] = names_.try_emplace(name, 0);
    if (is_new) {
      found->second = NewRule();
      rules_.back().name = name;
    }
    return found->second;
  }
  void Open(uint32_t rule) { depths_.push_back({.rule = rule}); }
  std::vector<Symbol>& Symbols() { return rules_[depths_.back().rule].alternatives.back(); }

  char Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  static bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-'; }
  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }

  void SkipSpace() {
    while (at_ < text_.size()) {
      const char c = Peek();
      if (c == '#') {
        while (at_ < text_.size() && Peek() != '\n' && Peek() != '\r') ++at_;
      } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++at_;
      } else {
        return;
      }
    }
  }

  void AddRule(uint64_t elements) { bytes_ += elements * kElementBytes + kRuleBytes + 2 * name_; }

  // A new item of so many elements, at the current depth.
  void AddItem(uint64_t elements, uint32_t rule = kTerminal) {
    depths_.back().item = elements;
    bytes_ += elements * kElementBytes;
    if (elements > 0) Symbols().push_back({.rule = rule});
  }

  // "…" or […], a character of which may be escaped.
  void Quoted(char end) {
    ++at_;
    if (end == ']' && Peek() == '^') ++at_;  // [^] is nothing
    const size_t start = at_;
    while (at_ < text_.size() && Peek() != end) at_ += Peek() == '\\' ? 2 : 1;
    at_ = std::min(at_, text_.size());
    AddItem(at_ - start);
    ++at_;
  }

  // <…>: one item, whatever it says.
  void Token() {
    at_ = std::min(text_.find('>', at_), text_.size() - 1) + 1;
    AddItem(1);
  }

  void Word() {
    const size_t start = at_;
    while (IsWord(Peek())) ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    SkipSpace();
    if (Peek() != ':' || Peek(1) != ':' || Peek(2) != '=') return AddItem(1, RuleOf(name));
    at_ += 3;
    name_ = name.size();
    AddRule(2);
    depths_.clear();
    Open(RuleOf(name));
    rules_[depths_.back().rule].alternatives = {{}};  // the last one of a name counts
  }

  uint64_t Number() {
    uint64_t number = 0;
    for (; IsDigit(Peek()); ++at_) {
      number = std::min<uint64_t>(number * 10 + static_cast<uint64_t>(Peek() - '0'), UINT32_MAX);
    }
    return number;
  }

  void Braces() {
    ++at_;
    SkipSpace();
    const uint64_t least = Number();
    uint64_t most = least;
    SkipSpace();
    if (Peek() == ',') {
      ++at_;
      SkipSpace();
      most = IsDigit(Peek()) ? Number() : kNoMost;
      SkipSpace();
    }
    if (Peek() == '}') ++at_;
    Repeat(least, most);
  }

  void Repeat(uint64_t least, uint64_t most) {
    if (most < least) {
      throw Error(WASINN_INVALID_ARGUMENT,
                  fmt::format("grammar: {{{},{}}}: expected the smaller number first", least, most));
    }
    if (least > kMostTimes) return;  // llama.cpp says so
    const bool endless = most > kMostTimes;
    const uint64_t item = depths_.back().item, optional = endless ? 1 : most - least;
    const uint64_t written = item * least + (optional > 0 ? 1 : 0);
    // Neither product wraps around: both factors are held to what was counted, or to kMostTimes.
    bytes_ += written * kElementBytes;
    for (uint64_t i = 0; i < optional && bytes_ <= kMostGrammarBytes; ++i) AddRule(item + 3);
    depths_.back().item = written;
    if (Symbols().empty()) return;
    if (written == 0) return Symbols().pop_back();  // x{0}
    Symbol& last = Symbols().back();
    last.optional = last.optional || least == 0;
    last.times = static_cast<uint32_t>(std::min(kMostTimes, last.times * std::max<uint64_t>(least + optional, 1)));
  }

  void Close() {
    ++at_;
    if (depths_.size() < 2) return;
    const uint32_t group = depths_.back().rule;
    depths_.pop_back();
    AddItem(1, group);
  }

  void Item() {
    switch (Peek()) {
      case '"':
        return Quoted('"');
      case '[':
        return Quoted(']');
      case '(':
        ++at_;
        AddRule(2);
        return Open(NewRule());
      case ')':
        return Close();
      case '|':
        ++at_;
        rules_[depths_.back().rule].alternatives.emplace_back();
        return AddItem(0);
      case '*':
        ++at_;
        return Repeat(0, kNoMost);
      case '+':
        ++at_;
        return Repeat(1, kNoMost);
      case '?':
        ++at_;
        return Repeat(0, 1);
      case '{':
        return Braces();
      case '<':
      case '!':
        return Token();
      case '#':
      case ' ':
      case '\t':
      case '\n':
      case '\r':
        return SkipSpace();
      default:
        if (IsWord(Peek())) return Word();
        ++at_;  // '.'
        AddItem(1);
    }
  }

  const std::string_view text_;
  size_t at_ = 0;
  size_t name_ = 0;  // bytes of the rule's name, which those made of it have too
  uint64_t bytes_ = 0;
  std::vector<Depth> depths_;
  std::vector<Rule> rules_;
  std::unordered_map<std::string_view, uint32_t> names_;
};

}  // namespace

GrammarSize MeasureGrammar(std::string_view grammar) { return GrammarCounter(grammar).Count(); }

}  // namespace wasinn::llama
