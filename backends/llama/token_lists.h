// Tokens as numbers that a guest sees.
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

// The most bytes of a text that is made of tokens.
constexpr size_t kMostTextBytes = size_t{16} << 20;
// The most tokens of a text that is only made into tokens, or of them.
constexpr size_t kMostListed = size_t{1} << 20;

// Throws WASINN_ERROR_TIMEOUT once `cancelled` is set: nothing interrupts what makes tokens, so whoever does it again and again looks.
void CheckGoesOn(const std::atomic<bool>& cancelled);

// {"count": N, "tokens": […]}; and of a chat "prompt", the text that they are of.
std::string TokensAsJson(std::span<const llama_token> tokens, const std::string* prompt);
// {"count": N, "tokens": [{"id": token, "piece": text}, …]}. A piece that is no text has its bytes as numbers.
// Throws WASINN_ERROR_TIMEOUT once `cancelled` is set.
std::string PiecesAsJson(const Model& model, std::span<const llama_token> tokens, const std::atomic<bool>& cancelled);
// At least as many bytes as it has: a model's tokens are as long as it likes. Throws likewise, and WASINN_ERROR_TOO_LARGE.
size_t BytesOfPieces(const Model& model, std::span<const llama_token> tokens, const std::atomic<bool>& cancelled);

// Whether the text of a list takes long to read, or much memory.
bool IsLongList(std::string_view json);

// Of a JSON list. What reading a long one takes is charged to the account meanwhile. Throws WASINN_ERROR_INVALID_ARGUMENT for one that has other
// things than the model's tokens, and WASINN_ERROR_PROMPT_TOO_LONG for one of more than `most`.
std::vector<llama_token> ParseTokens(const Model& model, std::string_view json, size_t most, void* account);

// Of a JSON list of tokens, between which texts may stand. `whole`: a text that comes first has what the tokenizer puts before one. What
// making tokens of them takes is charged, too. Throws likewise, and WASINN_ERROR_TIMEOUT once `cancelled` is set.
struct MixedList {
  size_t most;
  bool whole;
  void* account;
  const std::atomic<bool>* cancelled;
};
std::vector<llama_token> ParseMixed(const Model& model, std::string_view json, const MixedList& bounds);
std::vector<llama_token> ReadMixed(const Model& model, const nlohmann::json& list, const MixedList& bounds);

// Whole characters, with the names of those that only control. Throws WASINN_ERROR_TOO_LARGE for a text of too many bytes.
std::string TextOf(const Model& model, std::span<const llama_token> tokens);

}  // namespace wasinn::llama
