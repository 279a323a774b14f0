#include "llama/grammar_ways.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"

namespace wasinn::llama {

using backend::Error;

namespace {

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

}  // namespace

void CheckWays(const std::vector<Rule>& rules) { WayCounter(rules).Check(); }

}  // namespace wasinn::llama
