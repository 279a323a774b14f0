// In how many ways a text may go on by a grammar.
#ifndef WASINN_BACKENDS_LLAMA_GRAMMAR_WAYS_H_
#define WASINN_BACKENDS_LLAMA_GRAMMAR_WAYS_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace wasinn::llama {

// The most ways in which a text may go on at one place.
constexpr uint64_t kMostWays = 1 << 14;

// The most bytes that it may take to find them.
constexpr uint64_t kMostStackBytes = 32 << 20;

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

// A stack may grow with the text: what is reckoned for it are so many characters.
constexpr uint64_t kReckonedCharacters = 256;

struct StackSize {
  uint64_t bytes = 0;     // from where a rule begins; held to kMostStackBytes
  uint64_t anywhere = 0;  // also from within one, which is where a token may go on: about
};

// How many bytes it takes to find where a text may go on. Throws WASINN_TOO_LARGE for more than kMostWays or
// kMostStackBytes, and WASINN_INVALID_ARGUMENT for rules that may begin with themselves.
StackSize StackBytes(const std::vector<Rule>& rules);

}  // namespace wasinn::llama

#endif  // WASINN_BACKENDS_LLAMA_GRAMMAR_WAYS_H_
