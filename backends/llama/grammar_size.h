// What a grammar becomes in llama.cpp's hands, reckoned before it gets there.
#ifndef WASINN_BACKENDS_LLAMA_GRAMMAR_SIZE_H_
#define WASINN_BACKENDS_LLAMA_GRAMMAR_SIZE_H_

#include <cstdint>
#include <string_view>

namespace wasinn::llama {

// The most bytes that a grammar may take.
constexpr uint64_t kMostGrammarBytes = 32 << 20;

// The most bytes that it may take to look whether a token goes on with it.
constexpr uint64_t kMostTokenBytes = 1 << 30;
constexpr uint64_t kLeastLongest = 8;  // but for the shortest

struct GrammarSize {
  uint64_t bytes = 0;  // about what it takes, never less
  // Of a token in characters: llama.cpp finds all ways on behind each of them, and keeps these until it has seen the
  // last one.
  uint64_t longest_token = 0;
};

// llama.cpp writes repetitions out: 64 KiB of `a{0,1999}` would take gigabytes. Of a grammar in GBNF. Throws
// WASINN_TOO_LARGE beyond the most, and WASINN_INVALID_ARGUMENT for `{5,2}` and for rules that may begin with
// themselves, which llama.cpp would write out, or follow, without an end. What else is wrong with a grammar is its
// parser's to say.
GrammarSize MeasureGrammar(std::string_view grammar);

}  // namespace wasinn::llama

#endif  // WASINN_BACKENDS_LLAMA_GRAMMAR_SIZE_H_
