// Prompts as tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/reservation.h"
#include "llama/llama_library.h"

namespace wasinn::llama {

class Model;

// Throws WASINN_ERROR_INVALID_ARGUMENT for a prompt that is empty or no UTF-8, and WASINN_ERROR_PROMPT_TOO_LONG, quickly, for one of
// more than `capacity` tokens.
// `whole`: with what the model's tokenizer puts around a text.
std::vector<llama_token> Tokenize(const Model& model, std::string_view prompt, size_t capacity, bool whole = true);

// Of an empty text: what the tokenizer puts around one. Throws WASINN_ERROR_INVALID_ARGUMENT where that is nothing.
std::vector<llama_token> TokenizeNothing(const Model& model);

// Of a part of a text, in which tokens stand by their names. It is not long.
std::vector<llama_token> TokenizeSpecial(const Model& model, const std::string& text);

// Of a text in which nothing stands for a token but its own bytes, without what the tokenizer puts around a text.
std::vector<llama_token> TokenizePlain(const Model& model, const std::string& text, size_t capacity);

// What these throw for a text that is no UTF-8, and for one of so many bytes that it cannot fit.
void CheckUtf8(std::string_view text);
void CheckTextLength(const Model& model, size_t bytes, size_t capacity);
// That making tokens of so many bytes takes.
size_t StackForText(size_t bytes);
// And what llama.cpp holds meanwhile, charged for as long as it lives. Texts of a usual length are free.
backend::Reservation ReserveForTokens(const Model& model, void* account, size_t bytes);

// The bytes of a token. One that only controls has a name, which is written with kWithSpecial alone.
constexpr bool kWithSpecial = true;
std::string PieceOf(const Model& model, llama_token token, bool special);

}  // namespace wasinn::llama
