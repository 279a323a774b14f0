// What every request for a text has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "serve/openai/fields.h"
#include "serve/openai/sampling.h"
#include "serve/openai/text_request.h"

namespace wasinn::serve::openai {

inline constexpr int64_t kMostTop = 20;  // tokens of which the probability is told, beside each one

// OpenAI's fields with which nothing changes here.
void IgnoreMoot(Fields& fields);
// These throw ApiError. How many texts there are for each prompt is said by `n`, or by another field that means the same.
TextRequest ReadCommon(Fields& fields, std::initializer_list<std::string_view> names_of_n = {"n"});
void AddTop(std::optional<unsigned> n_top, Options& options);
// Whether, and how long, the model is to think: by the words of OpenAI, OpenRouter, Ollama and llama.cpp's server.
void ReadThinking(Fields& fields, Options& options);
// What llama.cpp's server tells in a stream beside its texts.
void ReadTold(Fields& fields, TextRequest& request);
// At the end: they are the request's.
void TakeOptions(Options& options, TextRequest& request);

}  // namespace wasinn::serve::openai
