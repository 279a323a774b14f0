// Lists of tokens as numbers for guests.
#pragma once

#include <atomic>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "llama/llama_library.h"

namespace wasinn::llama {

class Model;

// The most bytes of a text made of tokens.
constexpr size_t kMaxTextBytes = size_t{16} << 20;
// The most tokens for tokenizing or detokenizing only.
constexpr size_t kMaxListed = size_t{1} << 20;

// Throws WASINN_ERROR_TIMEOUT once `cancelled` is set: tokenizing cannot be interrupted, so loops check between calls.
void CheckGoesOn(const std::atomic<bool>& cancelled);

// {"count": N, "tokens": […]}; for a chat also "prompt", their text.
std::string TokensAsJson(std::span<const llama_token> tokens, const std::string* prompt);
// {"count": N, "tokens": [{"id": token, "piece": text}, …]}. A piece that is not UTF-8 is a list of bytes. Throws
// WASINN_ERROR_TIMEOUT once `cancelled` is set.
std::string PiecesAsJson(const Model& model, std::span<const llama_token> tokens, const std::atomic<bool>& cancelled);
// An upper limit of its bytes: a model's tokens may have any length. Throws like it, and WASINN_ERROR_TOO_LARGE.
size_t BytesOfPieces(const Model& model, std::span<const llama_token> tokens, const std::atomic<bool>& cancelled);

// Whether reading a list's text takes long, or much memory.
bool IsLongList(std::string_view json);

// Reads a JSON list. Charges its memory to the account meanwhile. Throws WASINN_ERROR_INVALID_ARGUMENT for elements
// that are not the model's tokens, and WASINN_ERROR_PROMPT_TOO_LONG for more than `most`.
std::vector<llama_token> ParseTokens(const Model& model, std::string_view json, size_t most, void* account);

// A JSON list of tokens and texts. `whole`: a text at the beginning gets the special tokens before a text. Tokenizing
// is charged, too. Throws like ParseTokens, and WASINN_ERROR_TIMEOUT once `cancelled` is set.
struct MixedList {
  size_t most;
  bool whole;
  void* account;
  const std::atomic<bool>* cancelled;
};
std::vector<llama_token> ParseMixed(const Model& model, std::string_view json, const MixedList& bounds);
std::vector<llama_token> ReadMixed(const Model& model, const nlohmann::json& list, const MixedList& bounds);

// Whole characters, with the names of control tokens. Throws WASINN_ERROR_TOO_LARGE for too many bytes.
std::string TextOf(const Model& model, std::span<const llama_token> tokens);

}  // namespace wasinn::llama
