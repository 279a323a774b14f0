#include "llama/grammar_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/error.h"

namespace wasinn::llama {

using backend::Error;

namespace {

// Of a repetition; llama.cpp refuses more, and takes a larger `n` of {m,n} for none.
constexpr uint64_t kMostTimes = 2000, kNoMost = UINT64_MAX;
// An element has 8 bytes. The grammar is held as it is parsed and once more as it is used, and a growing list may have
// twice what is in it. Then what a rule takes beside its elements, and its name.
constexpr uint64_t kElementBytes = 8 * 4, kRuleBytes = 256;

[[noreturn]] void RefuseGrammar(uint64_t bytes) {
  throw Error(WASINN_TOO_LARGE,
              fmt::format("grammar: its repetitions, written out, take {} bytes or more: no more than {} are allowed",
                          bytes, kMostGrammarBytes));
}

constexpr uint32_t kTerminal = UINT32_MAX;

// What may come at one place: a character, or what a rule says.
struct Symbol {
  uint32_t rule = kTerminal;
  bool optional = false;
  uint32_t times = 1;
};

struct Rule {
  std::string_view name;  // none: a group's
  std::vector<std::vector<Symbol>> alternatives = {{}};
};

// In how many ways a text may go on. llama.cpp keeps a stack for each, also of a rule that begins with another twice,
// which has that one's twice: thirty such rules have more than there is memory for. Of a rule that begins with itself
// it makes stacks without an end, and it sees only some of these: not where what comes before may be nothing by way of
// other rules.
class WayCounter {
 public:
  explicit WayCounter(const std::vector<Rule>& rules) : rules_(rules), ways_(rules.size()), empty_(rules.size()) {}

  // Not recursive, since rules may lead from one to the next as often as there are rules.
  void Check() {
    FindEmpty();
    for (const uint32_t rule : InOrder()) {
      for (const std::vector<Symbol>& symbols : rules_[rule].alternatives) {
        ways_[rule] += WaysOf(symbols, Leading(symbols));
        Limit(ways_[rule]);
      }
    }
    // What comes later in a rule is where the text goes on, too.
    for (const Rule& rule : rules_) {
      for (const std::vector<Symbol>& symbols : rule.alternatives) WaysOf(symbols, symbols.size());
    }
  }

 private:
  // Which rules can stand for nothing: those with an alternative of which nothing is left that must be there.
  void FindEmpty() {
    struct Alternative {
      uint32_t rule = 0;
      size_t left = 0;
    };
    std::vector<Alternative> alternatives;
    std::vector<std::vector<size_t>> used_in(rules_.size());
    std::vector<uint32_t> found;
    for (uint32_t rule = 0; rule < rules_.size(); ++rule) {
      for (const std::vector<Symbol>& symbols : rules_[rule].alternatives) {
        Alternative alternative = {.rule = rule};
        for (const Symbol& symbol : symbols) {
          if (symbol.optional) continue;
          ++alternative.left;
          if (symbol.rule != kTerminal) used_in[symbol.rule].push_back(alternatives.size());
        }
        alternatives.push_back(alternative);
        if (alternative.left == 0) found.push_back(rule);
      }
    }
    while (!found.empty()) {
      const uint32_t rule = found.back();
      found.pop_back();
      if (empty_[rule]) continue;
      empty_[rule] = true;
      for (const size_t i : used_in[rule]) {
        if (--alternatives[i].left == 0) found.push_back(alternatives[i].rule);
      }
    }
  }

  bool IsRuleThatMayBeEmpty(const Symbol& symbol) const { return symbol.rule != kTerminal && empty_[symbol.rule]; }

  // How many symbols a text may begin with: up to the first one that must be there.
  size_t Leading(const std::vector<Symbol>& symbols) const {
    const auto first = std::ranges::find_if(
        symbols, [this](const Symbol& symbol) { return !symbol.optional && !IsRuleThatMayBeEmpty(symbol); });
    return static_cast<size_t>(first - symbols.begin()) + (first == symbols.end() ? 0 : 1);
  }

  // All rules, each after those that it may begin with.
  std::vector<uint32_t> InOrder() const {
    enum : uint8_t { kNew, kInProgress, kDone };
    std::vector<uint8_t> states(rules_.size(), kNew);
    std::vector<Path> path;
    std::vector<uint32_t> order;
    const auto enter = [&](uint32_t rule) {
      states[rule] = kInProgress;
      path.push_back({rule, FirstsOf(rule)});
    };
    for (uint32_t start = 0; start < rules_.size(); ++start) {
      if (states[start] == kNew) enter(start);
      while (!path.empty()) {
        if (path.back().to_visit.empty()) {
          states[path.back().rule] = kDone;
          order.push_back(path.back().rule);
          path.pop_back();
          continue;
        }
        const uint32_t next = path.back().to_visit.back();
        path.back().to_visit.pop_back();
        if (states[next] == kInProgress) RefuseCircle(path, next);
        if (states[next] == kNew) enter(next);
      }
    }
    return order;
  }

  struct Path {
    uint32_t rule = 0;
    std::vector<uint32_t> to_visit;
  };

  std::vector<uint32_t> FirstsOf(uint32_t rule) const {
    std::vector<uint32_t> firsts;
    for (const std::vector<Symbol>& symbols : rules_[rule].alternatives) {
      for (size_t i = Leading(symbols); i-- > 0;) {
        if (symbols[i].rule != kTerminal) firsts.push_back(symbols[i].rule);
      }
    }
    return firsts;
  }

  // One in the circle has a name: a group is in itself only by way of one.
  [[noreturn]] void RefuseCircle(const std::vector<Path>& path, uint32_t rule) const {
    constexpr size_t kLongestName = 64;
    auto at = std::ranges::find(path, rule, &Path::rule);
    while (at + 1 != path.end() && rules_[at->rule].name.empty()) ++at;
    throw Error(WASINN_INVALID_ARGUMENT,
                fmt::format("grammar: rule {} may begin with itself (left recursion): expected something that must "
                            "come first",
                            rules_[at->rule].name.substr(0, kLongestName)));
  }

  // In how many ways an alternative's first `n` symbols may go on, from each of them.
  uint64_t WaysOf(const std::vector<Symbol>& symbols, size_t n) const {
    uint64_t from_here = 1;
    for (size_t i = n; i-- > 0;) {
      const Symbol& symbol = symbols[i];
      const bool empty = IsRuleThatMayBeEmpty(symbol);
      const uint64_t own = symbol.rule == kTerminal ? 1 : ways_[symbol.rule] * (empty ? symbol.times : 1);
      from_here = empty || symbol.optional ? own + from_here : own;
      Limit(from_here);
    }
    return from_here;
  }

  static void Limit(uint64_t ways) {
    if (ways <= kMostWays) return;
    throw Error(WASINN_TOO_LARGE,
                fmt::format("grammar: a text may go on in more than {} ways at one place", kMostWays));
  }

  const std::vector<Rule>& rules_;
  std::vector<uint64_t> ways_;
  std::vector<bool> empty_;
};

// Follows llama.cpp's parser (llama_grammar_parser::parse_sequence), and counts what that makes.
class GrammarCounter {
 public:
  explicit GrammarCounter(std::string_view text) : text_(text) {}

  uint64_t Count() {
    Open(RuleOf(""));  // what comes before the first rule: nothing, in a grammar that is right
    while (at_ < text_.size()) {
      Item();
      if (bytes_ > kMostGrammarBytes) RefuseGrammar(bytes_);
    }
    WayCounter(rules_).Check();
    return bytes_;
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

// Goes where llama.cpp's conversion goes, and counts what that has to do. It visits what a reference leads to once, but
// in an allOf each time, and without an end where that leads back to itself.
class SchemaCounter {
 public:
  explicit SchemaCounter(const nlohmann::json& root) : root_(root) {}

  void Count() {
    Visit(root_, 0);
    for (size_t i = 0; i < references_.size(); ++i) Visit(*references_[i], 0);
  }

 private:
  static constexpr uint64_t kMostWork = 16 << 20, kVisit = 64;
  static constexpr size_t kDeepest = 128;

  void Add(uint64_t work) {
    work_ += work;
    if (work_ <= kMostWork) return;
    throw Error(WASINN_TOO_LARGE,
                "json-schema: an object has too many properties, or there are too many objects with many of them");
  }

  static void CheckDepth(size_t depth) {
    if (depth <= kDeepest) return;
    throw Error(WASINN_INVALID_ARGUMENT, "json-schema: references in allOf lead in a circle, or too deep");
  }

  // Of an object with so many properties, each of which may be missing: a rule for what follows each, of the rest.
  void AddProperties(uint64_t n) {
    constexpr uint64_t kSure = 1024;
    n = std::min(n, kSure);
    Add(n * n * n);
  }

  // As llama.cpp does it: parts between slashes, without escapes. NULL: it says that there is no such thing.
  const nlohmann::json* Target(const nlohmann::json& reference) const {
    if (!reference.is_string()) return nullptr;
    const auto& text = reference.get_ref<const std::string&>();
    if (!text.starts_with("#/")) return nullptr;
    const nlohmann::json* at = &root_;
    for (size_t start = 2; start <= text.size() && at != nullptr;) {
      const size_t end = std::min(text.find('/', start), text.size());
      at = Child(*at, text.substr(start, end - start));
      start = end + 1;
    }
    return at;
  }

  static const nlohmann::json* Child(const nlohmann::json& node, const std::string& name) {
    if (node.is_object()) return node.contains(name) ? &node[name] : nullptr;
    const size_t index = std::strtoull(name.c_str(), nullptr, 10);
    return node.is_array() && index < node.size() ? &node[index] : nullptr;
  }

  void Visit(const nlohmann::json& node, size_t depth) {
    Add(kVisit);
    CheckDepth(depth);
    if (!node.is_structured()) return;
    if (node.is_object() && node.contains("$ref")) {
      const nlohmann::json* target = Target(node["$ref"]);
      if (target != nullptr && known_.insert(target).second) references_.push_back(target);
      return;
    }
    if (node.is_object() && node.contains("properties")) AddProperties(node["properties"].size());
    if (node.is_object() && node.contains("allOf")) {
      uint64_t properties = 0;
      for (const auto& part : node["allOf"]) Join(part, depth + 1, &properties);
      AddProperties(properties);
    }
    for (const auto& part : node) Visit(part, depth + 1);
  }

  // A part of an allOf, whose properties become the whole's.
  void Join(const nlohmann::json& part, size_t depth, uint64_t* properties) {
    Add(kVisit);
    CheckDepth(depth);
    const nlohmann::json* at = &part;
    for (size_t steps = 0; at != nullptr && at->is_object() && at->contains("$ref"); ++steps) {
      Add(kVisit);
      if (steps > kDeepest) throw Error(WASINN_INVALID_ARGUMENT, "json-schema: references lead in a circle");
      at = Target((*at)["$ref"]);
    }
    if (at == nullptr || !at->is_object()) return;
    if (at->contains("anyOf")) {
      for (const auto& one : (*at)["anyOf"]) Join(one, depth + 1, properties);
    }
    if (!at->contains("properties")) return;
    *properties += (*at)["properties"].size();
    // Those of the part itself are visited with it.
    if (at == &part) return;
    for (const auto& property : (*at)["properties"]) Visit(property, depth + 1);
  }

  const nlohmann::json& root_;
  uint64_t work_ = 0;
  std::unordered_set<const nlohmann::json*> known_;
  std::vector<const nlohmann::json*> references_;
};

}  // namespace

uint64_t GrammarBytes(std::string_view grammar) { return GrammarCounter(grammar).Count(); }

void CheckSchemaSize(const std::string& text) {
  constexpr bool kThrow = false;
  const auto schema = nlohmann::json::parse(text, nullptr, kThrow);
  SchemaCounter(schema).Count();
}

}  // namespace wasinn::llama
