// The functions that llama.cpp's grammars take from its library, for a copy of them that is compiled here (scripts/deps/llama.sh).
#ifndef WASINN_LLAMA_GRAMMAR_STAND_INS_H_
#define WASINN_LLAMA_GRAMMAR_STAND_INS_H_

#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>

#include "ggml.h"
#include "limits.h"
#include "wasinn_llama_common.h"

// llama.cpp prints the mistakes of a grammar; here they become the error.
#define LLAMA_LOG_ERROR(...) wasinn_llama::RefuseGrammar(__VA_ARGS__)
#define LLAMA_LOG_DEBUG(...)

namespace wasinn_llama {

template <typename... Arguments>
[[noreturn]] void RefuseGrammar(const char* format, Arguments... arguments) {
  char text[256];
  std::snprintf(text, sizeof(text), format, arguments...);
  throw std::invalid_argument(text);
}

}  // namespace wasinn_llama

struct llama_vocab {
  wasinn_llama_vocabulary about;
  mutable std::string piece;

  // Returns nothing, which no grammar accepts, for a token that is longer than those of any usual vocabulary: the check
  // calls itself for each character.
  const std::string& token_to_piece(int32_t token) const {
    constexpr int32_t kLongest = 512;
    piece.resize(kLongest);
    const int32_t size = about.piece(about.user, token, piece.data(), kLongest);
    piece.resize(size < 0 ? 0 : static_cast<size_t>(size));
    return piece;
  }
  bool is_eog(int32_t token) const { return about.ends(about.user, token) != 0; }
  int32_t tokenize(const char* text, int32_t size, int32_t* tokens, int32_t most, bool /*adds*/,
                   bool /*special*/) const {
    return about.tokens(about.user, text, size, tokens, most);
  }
};

#endif  // WASINN_LLAMA_GRAMMAR_STAND_INS_H_
