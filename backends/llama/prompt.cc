#include "llama/prompt.h"

#include <fmt/format.h>

#include <climits>

#include "common/error.h"
#include "common/large_stack.h"
#include "llama/model.h"
#include "llama/text.h"

namespace wasinn::llama {

using backend::Error;

namespace {

// Tokenizers of some models use std::regex, which calls itself for each character.
constexpr size_t kLongText = 512, kStackPerByte = 1024, kLeastStack = 8 << 20;

[[noreturn]] void RefuseLength(const std::string& what, size_t capacity) {
  throw Error(WASINN_PROMPT_TOO_LONG, fmt::format("the prompt has {}: the context has {}", what, capacity));
}

// `whole`: with what its tokenizer puts around a text. `names`: tokens stand by them.
std::vector<llama_token> TokenizeText(const Model& model, const std::string& text, bool whole, bool names) {
  const LlamaLibrary& library = model.host().library();
  std::vector<llama_token> tokens(text.size() + 8);
  const auto tokenize = [&] {
    return library.tokenize(model.vocabulary(), text.data(), static_cast<int32_t>(text.size()), tokens.data(),
                            static_cast<int32_t>(tokens.size()), whole, names);
  };
  int32_t n = tokenize();
  if (n < 0 && n != INT32_MIN) {
    tokens.resize(static_cast<size_t>(-n));
    n = tokenize();
  }
  if (n < 0) throw Error(WASINN_RUNTIME_ERROR, "llama.cpp cannot make tokens of the prompt");
  tokens.resize(static_cast<size_t>(n));
  return tokens;
}

std::vector<llama_token> TokenizeOnStack(const Model& model, const std::string& text, bool whole, bool names) {
  if (text.size() <= kLongText) return TokenizeText(model, text, whole, names);
  std::vector<llama_token> tokens;
  backend::RunOnLargeStack(StackForText(text.size()), [&] { tokens = TokenizeText(model, text, whole, names); });
  return tokens;
}

}  // namespace

// No token is longer: those of a text that cannot fit need not be made.
void CheckTextLength(const Model& model, size_t bytes, size_t capacity) {
  const size_t longest = std::max<size_t>(model.scan().longest_token, 1);
  if (bytes / longest > capacity || bytes > INT32_MAX / 2) {
    RefuseLength(fmt::format("{} bytes, and no token has more than {} of them", bytes, longest), capacity);
  }
}

void CheckUtf8(std::string_view text) {
  if (const size_t at = FindInvalidUtf8(text); at != std::string_view::npos) {
    throw Error(WASINN_INVALID_ARGUMENT, fmt::format("the prompt is not UTF-8 at byte {}", at));
  }
}

size_t StackForText(size_t bytes) { return kLeastStack + bytes * kStackPerByte; }

std::vector<llama_token> Tokenize(const Model& model, std::string_view prompt, size_t capacity, bool whole) {
  if (prompt.empty()) throw Error(WASINN_INVALID_ARGUMENT, "the prompt is empty");
  CheckTextLength(model, prompt.size(), capacity);
  CheckUtf8(prompt);
  constexpr bool kNames = true;
  std::vector<llama_token> tokens = TokenizeOnStack(model, std::string(prompt), whole, kNames);
  if (tokens.empty()) throw Error(WASINN_INVALID_ARGUMENT, "the prompt has no tokens");
  if (tokens.size() > capacity) RefuseLength(fmt::format("{} tokens", tokens.size()), capacity);
  return tokens;
}

std::vector<llama_token> TokenizeSpecial(const Model& model, const std::string& text) {
  return TokenizeOnStack(model, text, /*whole=*/false, /*names=*/true);
}

std::vector<llama_token> TokenizePlain(const Model& model, const std::string& text, size_t capacity) {
  CheckTextLength(model, text.size(), capacity);
  if (const size_t at = FindInvalidUtf8(text); at != std::string_view::npos) {
    throw Error(WASINN_INVALID_ARGUMENT, fmt::format("a text is not UTF-8 at byte {}", at));
  }
  return TokenizeOnStack(model, text, /*whole=*/false, /*names=*/false);
}

std::string PieceOf(const Model& model, llama_token token, bool special) {
  const LlamaLibrary& library = model.host().library();
  std::string piece(32, '\0');
  for (;;) {
    const int32_t n =
        library.token_to_piece(model.vocabulary(), token, piece.data(), static_cast<int32_t>(piece.size()), 0, special);
    if (n >= 0) {
      piece.resize(static_cast<size_t>(n));
      return piece;
    }
    piece.resize(static_cast<size_t>(-n));
  }
}

}  // namespace wasinn::llama
