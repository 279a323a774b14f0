// Tokens as numbers that a guest sees.
#ifndef WASINN_BACKENDS_LLAMA_TOKEN_LISTS_H_
#define WASINN_BACKENDS_LLAMA_TOKEN_LISTS_H_

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "llama/llama_library.h"

namespace wasinn::llama {

class Model;

// The most tokens of a text that is only made into tokens, or of them.
constexpr size_t kMostListed = size_t{1} << 20;

// {"count": N, "tokens": […]}; and of a chat "prompt", the text that they are of.
std::string TokensAsJson(std::span<const llama_token> tokens, const std::string* prompt);

// Of a JSON list. Throws WASINN_INVALID_ARGUMENT for one that has other things than the model's tokens, and WASINN_PROMPT_TOO_LONG for one of
// more than `most`.
std::vector<llama_token> ParseTokens(const Model& model, std::string_view json, size_t most);
std::vector<llama_token> ReadTokens(const Model& model, const nlohmann::json& list, size_t most);

// Whole characters, with the names of those that only control. Throws WASINN_TOO_LARGE for a text of too many bytes.
std::string TextOf(const Model& model, std::span<const llama_token> tokens);

}  // namespace wasinn::llama

#endif  // WASINN_BACKENDS_LLAMA_TOKEN_LISTS_H_
