// Prompts as tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/reservation.h"
#include "llama/llama_library.h"

namespace wasinn::llama {

class Model;

// Throws WASINN_ERROR_INVALID_ARGUMENT for a prompt that is empty or not UTF-8, and, quickly,
// WASINN_ERROR_PROMPT_TOO_LONG for more than `capacity` tokens. `whole`: adds the model's special tokens around a text.
std::vector<llama_token> Tokenize(const Model& model, std::string_view prompt, size_t capacity, bool whole = true);

// For an empty text: the special tokens around it. Throws WASINN_ERROR_INVALID_ARGUMENT if there are none.
std::vector<llama_token> TokenizeNothing(const Model& model);

// For a short part of a text, which may contain names of special tokens.
std::vector<llama_token> TokenizeSpecial(const Model& model, const std::string& text);

// For a text without names of special tokens, and without those around a text.
std::vector<llama_token> TokenizePlain(const Model& model, const std::string& text, size_t capacity);

// These are the checks of the functions above: not UTF-8; too many bytes to fit.
void CheckUtf8(std::string_view text);
void CheckTextLength(const Model& model, size_t bytes, size_t capacity);
// The stack for tokenizing this many bytes.
size_t StackForText(size_t bytes);
// llama.cpp's memory during that, charged while the result lives. Texts of a usual length are free.
backend::Reservation ReserveForTokens(const Model& model, void* account, size_t bytes);

// The bytes of a token. Control tokens have names, which only appear with kWithSpecial.
constexpr bool kWithSpecial = true;
std::string PieceOf(const Model& model, llama_token token, bool special);

}  // namespace wasinn::llama
