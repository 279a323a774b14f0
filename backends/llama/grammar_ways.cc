#include "llama/grammar_ways.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"

namespace wasinn::llama {

using backend::Error;

namespace {

// Where a text may go on: in how many ways; what llama.cpp makes to find these, which is a stack for each rule that is
// open on the way; how many elements all these stacks have; and how many the deepest one has. All without what lies
// under it: that of the rules which led here.
struct Reach {
  uint64_t ways = 0, stacks = 0, elements = 0, depth = 0;

  void Add(const Reach& other) {
    ways += other.ways;
    stacks += other.stacks;
    elements += other.elements;
    depth = std::max(depth, other.depth);
  }
  void Widen(const Reach& other) {
    stacks = std::max(stacks, other.stacks);
    elements = std::max(elements, other.elements);
    depth = std::max(depth, other.depth);
  }
};

// In how many ways a text may go on. llama.cpp keeps a stack for each, also of a rule that begins with another twice,
// which has that one's twice: thirty such rules have more than there is memory for. Of a rule that begins with itself
// it makes stacks without an end, and it sees only some of these: not where what comes before may be nothing by way of
// other rules.
class WayCounter {
 public:
  explicit WayCounter(const std::vector<Rule>& rules) : rules_(rules), reach_(rules.size()), empty_(rules.size()) {}

  // Not recursive, since rules may lead from one to the next as often as there are rules.
  StackSize Count() {
    FindEmpty();
    Reach anywhere;
    for (const uint32_t rule : InOrder()) {
      for (const std::vector<Symbol>& symbols : rules_[rule].alternatives) {
        reach_[rule].Add(ReachOf(symbols, Leading(symbols)));
        Limit(reach_[rule]);
      }
      anywhere.Widen(reach_[rule]);
    }
    // What comes later in a rule is where the text goes on, too.
    Reach most;
    for (const Rule& rule : rules_) {
      for (const std::vector<Symbol>& symbols : rule.alternatives) {
        most.Widen(ReachOf(symbols, symbols.size(), &anywhere));
      }
    }
    anywhere.Widen(most);
    return {.bytes = LimitedBytes(most, Under(most.depth)), .anywhere = BytesOf(anywhere, Under(anywhere.depth))};
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

  // What a symbol's rule lies on: what follows the symbol, and what is left of its repetitions.
  static uint64_t UnderRuleOf(const std::vector<Symbol>& symbols, size_t i) {
    return (i + 1 < symbols.size() ? 1 : 0) + (symbols[i].optional || symbols[i].times > 1 ? 1 : 0);
  }

  Reach ReachOfSymbol(const std::vector<Symbol>& symbols, size_t i) const {
    const Symbol& symbol = symbols[i];
    const uint64_t under = UnderRuleOf(symbols, i);
    if (symbol.rule == kTerminal) {
      const uint64_t stacks = symbol.optional ? 3 : 1;  // itself, and the rule that has it or nothing
      return {.ways = 1, .stacks = stacks, .elements = stacks * (1 + under), .depth = 1 + under};
    }
    // One that may be nothing is passed as often as it may be there.
    const uint64_t times = empty_[symbol.rule] ? symbol.times : 1;
    const Reach& rule = reach_[symbol.rule];
    const bool repeated = symbol.optional || symbol.times > 1;
    const uint64_t own = repeated ? 1 + 2 * times : 1, inner = rule.stacks * times;
    return {.ways = rule.ways * times,
            .stacks = own + inner,
            .elements = own * (1 + under) + inner * under + rule.elements * times,
            .depth = std::max<uint64_t>(rule.depth, 1) + under};
  }

  // Where an alternative's first `n` symbols may go on, from the first of them. `each`: widened by each one's.
  Reach ReachOf(const std::vector<Symbol>& symbols, size_t n, Reach* each = nullptr) const {
    Reach from_here = {.ways = 1, .stacks = 1};
    for (size_t i = n; i-- > 0;) {
      Reach own = ReachOfSymbol(symbols, i);
      if (symbols[i].optional || IsRuleThatMayBeEmpty(symbols[i])) own.Add(from_here);
      from_here = own;
      Limit(from_here);
      if (each != nullptr) each->Widen(from_here);
    }
    return from_here;
  }

  // How many elements may lie under all that. Those are the longest way from one rule to the next, unless
  // there is a circle: then a stack grows with the text, by no more than `depth` for each character, since no rule
  // begins with itself. The first kReckonedCharacters are counted. The rest is bounded by the context, which bounds the
  // text, and by the time that a token may take to check (Sampler::Patience).
  uint64_t Under(uint64_t depth) const {
    std::vector<uint64_t> users(rules_.size()), under(rules_.size());
    ForEachUse([&](uint32_t, uint32_t used, uint64_t) { ++users[used]; });
    std::vector<uint32_t> ready;
    for (uint32_t rule = 0; rule < rules_.size(); ++rule) {
      if (users[rule] == 0) ready.push_back(rule);
    }
    uint64_t most = 0;
    size_t seen = 0;
    for (; !ready.empty(); ++seen) {
      const uint32_t rule = ready.back();
      ready.pop_back();
      most = std::max(most, under[rule]);
      ForEachUseIn(rule, [&](uint32_t, uint32_t used, uint64_t more) {
        under[used] = std::max(under[used], under[rule] + more);
        if (--users[used] == 0) ready.push_back(used);
      });
    }
    return seen == rules_.size() ? most : most + depth * kReckonedCharacters;
  }

  // Calls `use` with a rule, one that it uses, and what that lies on there.
  void ForEachUseIn(uint32_t rule, const auto& use) const {
    for (const std::vector<Symbol>& symbols : rules_[rule].alternatives) {
      for (size_t i = 0; i < symbols.size(); ++i) {
        if (symbols[i].rule != kTerminal) use(rule, symbols[i].rule, UnderRuleOf(symbols, i));
      }
    }
  }
  void ForEachUse(const auto& use) const {
    for (uint32_t rule = 0; rule < rules_.size(); ++rule) ForEachUseIn(rule, use);
  }

  // A stack is a list of pointers in a set, and once more in what is still to do or in what is found.
  static uint64_t BytesOf(const Reach& reach, uint64_t under) {
    constexpr uint64_t kStackBytes = 128, kPointerBytes = 2 * sizeof(void*);
    return reach.stacks * (kStackBytes + under * kPointerBytes) + reach.elements * kPointerBytes;
  }
  static uint64_t LimitedBytes(const Reach& reach, uint64_t under) {
    const uint64_t bytes = BytesOf(reach, under);
    if (bytes <= kMostStackBytes) return bytes;
    throw Error(
        WASINN_TOO_LARGE,
        fmt::format("grammar: where a text may go on takes {} bytes or more, since rules lead too deep from one "
                    "to another: no more than {} are allowed",
                    bytes, kMostStackBytes));
  }

  static void Limit(const Reach& reach) {
    LimitedBytes(reach, 0);
    if (reach.ways <= kMostWays) return;
    throw Error(WASINN_TOO_LARGE,
                fmt::format("grammar: a text may go on in more than {} ways at one place", kMostWays));
  }

  const std::vector<Rule>& rules_;
  std::vector<Reach> reach_;
  std::vector<bool> empty_;
};

}  // namespace

StackSize StackBytes(const std::vector<Rule>& rules) { return WayCounter(rules).Count(); }

}  // namespace wasinn::llama
