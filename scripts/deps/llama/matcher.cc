// Checks whether tokens continue a grammar: C functions over llama.cpp's grammars.
#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "grammar_stand_ins.h"
#include "limits.h"
#include "llama-grammar.h"

struct wasinn_llama_matcher {
  struct Free {
    void operator()(llama_grammar* grammar) const { llama_grammar_free_impl(grammar); }
  };
  llama_vocab vocabulary;
  std::unique_ptr<llama_grammar, Free> grammar;
};

namespace {

using wasinn_llama::Call;

constexpr size_t kCheckedAtOnce = 4096;

// The parser's errors end with the rest of the grammar.
std::invalid_argument CannotBeParsed(const std::string& why) {
  constexpr size_t kLongest = 200;
  return std::invalid_argument("cannot be parsed: " + why.substr(0, std::min(why.find('\n'), kLongest)));
}

void Check(const llama_grammar& grammar, const int32_t* tokens, size_t n, uint8_t* allowed) {
  std::vector<llama_token_data> some;
  some.reserve(n);
  for (size_t i = 0; i < n; ++i) some.push_back({tokens[i], 0, 0});
  llama_token_data_array array = {some.data(), n, -1, false};
  llama_grammar_apply_impl(grammar, &array);
  for (size_t i = 0; i < n; ++i) allowed[i] = std::isinf(some[i].logit) ? 0 : 1;
}

}  // namespace

#define WASINN_EXPORT extern "C" __attribute__((visibility("default")))

WASINN_EXPORT int wasinn_llama_matcher_new(const wasinn_llama_vocabulary* vocabulary, const char* grammar,
                                           wasinn_llama_call* call, wasinn_llama_matcher** out) {
  std::unique_ptr<wasinn_llama_matcher> made;
  const int status = Call(call, [&] {
    constexpr bool kLazy = false;
    made = std::make_unique<wasinn_llama_matcher>();
    made->vocabulary.about = *vocabulary;
    try {
      made->grammar.reset(llama_grammar_init_impl(&made->vocabulary, grammar, "root", kLazy, nullptr, 0, nullptr, 0));
    } catch (const std::exception& error) {
      throw CannotBeParsed(error.what());
    }
    if (made->grammar == nullptr) throw std::invalid_argument("cannot be parsed");
    return std::string();
  });
  *out = status == WASINN_LLAMA_OK ? made.release() : nullptr;
  return status;
}

WASINN_EXPORT int wasinn_llama_matcher_check(const wasinn_llama_matcher* matcher, const int32_t* tokens, size_t n,
                                             uint8_t* allowed, wasinn_llama_call* call) {
  return Call(call, [&] {
    for (size_t at = 0; at < n; at += kCheckedAtOnce) {
      Check(*matcher->grammar, tokens + at, std::min(kCheckedAtOnce, n - at), allowed + at);
    }
    return std::string();
  });
}

WASINN_EXPORT int wasinn_llama_matcher_accept(wasinn_llama_matcher* matcher, int32_t token, const char* piece,
                                              size_t size, wasinn_llama_call* call) {
  return Call(call, [&] {
    if (piece == nullptr) {
      llama_grammar_accept_impl(*matcher->grammar, token);
    } else {
      llama_grammar_accept_token(*matcher->grammar, token, std::string(piece, size));
    }
    return std::string();
  });
}

WASINN_EXPORT void wasinn_llama_matcher_free(wasinn_llama_matcher* matcher) { delete matcher; }
