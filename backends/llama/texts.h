// Many texts of one prompt, of each of which the model makes a vector.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "llama/library_call.h"
#include "llama/llama_library.h"

namespace wasinn::llama {

class Model;

using Texts = std::vector<std::vector<llama_token>>;

// A JSON list of texts. Throws WASINN_ERROR_INVALID_ARGUMENT for one that is none, or too long, WASINN_ERROR_PROMPT_TOO_LONG for
// a text of more than `capacity` tokens, and WASINN_ERROR_TIMEOUT. The tokens are charged to the reservation, which has to be there.
Texts TokenizeTexts(const Model& model, std::string_view json, size_t capacity, const CallBounds& bounds);

// {"query": text, "documents": [text, …]}: each document behind the query, as the model has learned to compare them.
Texts TokenizeRanked(const Model& model, std::string_view json, size_t capacity, const CallBounds& bounds);

// As llama.cpp's --embd-normalize: -1: not; 0: the largest is 32760; 1: by the sum; 2: of length 1; others: by that norm.
void Normalize(std::span<float> vector, int norm);

}  // namespace wasinn::llama
