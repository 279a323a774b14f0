#include "llama/prompt.h"

#include <algorithm>
#include <climits>
#include <cstdint>

#include "common/large_stack.h"
#include "common/throw.h"
#include "llama/model.h"
#include "llama/text.h"

namespace wasinn::llama {

using backend::Throw;

namespace {

// Tokenizers of some models use std::regex, which recurses for each character.
constexpr size_t kLongText = 512, kStackPerByte = 1024, kLeastStack = 8 << 20;

[[noreturn]] void RefuseLength(const std::string& what, size_t capacity) {
  Throw(WASINN_ERROR_PROMPT_TOO_LONG, "the prompt has {}: the context has {}", what, capacity);
}

// `whole`: adds the special tokens around a text. `names`: accepts names of special tokens.
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
  if (n < 0) Throw(WASINN_ERROR_RUNTIME, "llama.cpp cannot tokenize the prompt");
  tokens.resize(static_cast<size_t>(n));
  return tokens;
}

// llama.cpp spells bytes without a token one by one: for each it allocates a token, and copies all of them. A mebibyte
// takes a minute without interruption. So a text that may have too many is first read in parts.
void CheckSpelledBytes(const Model& model, const std::string& text, bool names) {
  constexpr size_t kPart = 4096;
  constexpr uint64_t kMaxCopied = uint64_t{1} << 33;  // tokens
  const LlamaLibrary& library = model.host().library();
  if (text.size() * text.size() <= kMaxCopied || library.vocab_type(model.vocabulary()) != LLAMA_VOCAB_TYPE_SPM) return;
  uint64_t all = 0, spelled = 0;
  for (size_t at = 0, end = 0; at < text.size(); at = end) {
    end = EndOfCharacters(text, at + kPart);
    const std::vector<llama_token> tokens = TokenizeText(model, text.substr(at, end - at), /*whole=*/false, names);
    all += tokens.size();
    spelled += static_cast<uint64_t>(std::ranges::count_if(tokens, [&](llama_token token) {
      return (library.vocab_get_attr(model.vocabulary(), token) & LLAMA_TOKEN_ATTR_BYTE) != 0;
    }));
    if (spelled * all <= kMaxCopied) continue;
    Throw(WASINN_ERROR_PROMPT_TOO_LONG,
          "the model has no tokens for {} of the prompt's first {} bytes: with {} tokens at most {} such bytes "
          "are allowed",
          spelled, end, all, kMaxCopied / all);
  }
}

std::vector<llama_token> TokenizeOnStack(const Model& model, const std::string& text, bool whole, bool names) {
  if (text.size() <= kLongText) return TokenizeText(model, text, whole, names);
  std::vector<llama_token> tokens;
  backend::RunOnLargeStack(StackForText(text.size()), [&] {
    CheckSpelledBytes(model, text, names);
    tokens = TokenizeText(model, text, whole, names);
  });
  return tokens;
}

}  // namespace

// Tokens have a maximal length: a text that cannot fit is not tokenized.
void CheckTextLength(const Model& model, size_t bytes, size_t capacity) {
  const size_t longest = std::max<size_t>(model.scan().longest_token, 1);
  if (bytes / longest > capacity || bytes > INT32_MAX / 2) {
    RefuseLength(fmt::format("{} bytes, and no token has more than {} of them", bytes, longest), capacity);
  }
}

void CheckUtf8(std::string_view text) {
  if (const size_t at = FindInvalidUtf8(text); at != std::string_view::npos) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "the prompt is not UTF-8 at byte {}", at);
  }
}

size_t StackForText(size_t bytes) { return kLeastStack + bytes * kStackPerByte; }

backend::Reservation ReserveForTokens(const Model& model, void* account, size_t bytes) {
  constexpr size_t kFree = 64 << 10, kBytesEach = 64;  // parts of a text, with their neighbours, and pairs of them
  backend::Reservation reservation(model.host().services(), account);
  if (bytes > kFree) reservation.Resize(bytes * kBytesEach);
  return reservation;
}

std::vector<llama_token> Tokenize(const Model& model, std::string_view prompt, size_t capacity, bool whole) {
  if (prompt.empty()) Throw(WASINN_ERROR_INVALID_ARGUMENT, "the prompt is empty");
  CheckTextLength(model, prompt.size(), capacity);
  CheckUtf8(prompt);
  constexpr bool kNames = true;
  std::vector<llama_token> tokens = TokenizeOnStack(model, std::string(prompt), whole, kNames);
  if (tokens.empty()) Throw(WASINN_ERROR_INVALID_ARGUMENT, "the prompt has no tokens");
  if (tokens.size() > capacity) RefuseLength(fmt::format("{} tokens", tokens.size()), capacity);
  return tokens;
}

std::vector<llama_token> TokenizeNothing(const Model& model) {
  std::vector<llama_token> tokens = TokenizeText(model, "", /*whole=*/true, /*names=*/true);
  if (tokens.empty()) Throw(WASINN_ERROR_INVALID_ARGUMENT, "a text is empty, and the model adds no special tokens");
  return tokens;
}

std::vector<llama_token> TokenizeSpecial(const Model& model, const std::string& text) {
  return TokenizeOnStack(model, text, /*whole=*/false, /*names=*/true);
}

std::vector<llama_token> TokenizePlain(const Model& model, const std::string& text, size_t capacity) {
  CheckTextLength(model, text.size(), capacity);
  if (const size_t at = FindInvalidUtf8(text); at != std::string_view::npos) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "a text is not UTF-8 at byte {}", at);
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
