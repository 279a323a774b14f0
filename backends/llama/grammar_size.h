// What a grammar becomes in llama.cpp's hands, reckoned before it gets there.
#ifndef WASINN_BACKENDS_LLAMA_GRAMMAR_SIZE_H_
#define WASINN_BACKENDS_LLAMA_GRAMMAR_SIZE_H_

#include <cstdint>
#include <string_view>

namespace wasinn::llama {

// The most bytes that a grammar may take.
constexpr uint64_t kMostGrammarBytes = 32 << 20;

// llama.cpp writes repetitions out: 64 KiB of `a{0,1999}` would take gigabytes. Returns about how many bytes a grammar
// (GBNF) takes, never less. Throws WASINN_TOO_LARGE beyond the most, and WASINN_INVALID_ARGUMENT for `{5,2}` and for
// rules that may begin with themselves, which llama.cpp would write out, or follow, without an end. What else is wrong
// with a grammar is its parser's to say.
uint64_t GrammarBytes(std::string_view grammar);

}  // namespace wasinn::llama

#endif  // WASINN_BACKENDS_LLAMA_GRAMMAR_SIZE_H_
