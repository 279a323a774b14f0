// Prompts with many texts, of which the model makes one vector each.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "llama/library_call.h"
#include "llama/llama_library.h"

namespace wasinn::llama {

class Model;

using Texts = std::vector<std::vector<llama_token>>;

// A JSON list of texts. Throws WASINN_ERROR_INVALID_ARGUMENT if invalid or too long, WASINN_ERROR_PROMPT_TOO_LONG for a
// text of more than `capacity` tokens, and WASINN_ERROR_TIMEOUT. Charges the tokens to the existing reservation.
Texts TokenizeTexts(const Model& model, std::string_view json, size_t capacity, const CallBounds& bounds);

// {"query": text, "documents": [text, …]}: the query with each document, in the form that the model was trained for.
Texts TokenizeRanked(const Model& model, std::string_view json, size_t capacity, const CallBounds& bounds);

// llama.cpp's --embd-normalize: -1: none; 0: largest value 32760; 1: by the sum; 2: to length 1; others: by that norm.
void Normalize(std::span<float> vector, int norm);

}  // namespace wasinn::llama
