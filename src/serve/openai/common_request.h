// The fields that every request for a text has.
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

inline constexpr int64_t kMostTop = 20;  // the most alternatives whose probabilities a client gets for each token

// Ignores OpenAI's fields that change nothing here.
void IgnoreMoot(Fields& fields);
// These functions throw ApiError. `n`, or another field with the same meaning, is the number of texts for each prompt.
TextRequest ReadCommon(Fields& fields, std::initializer_list<std::string_view> names_of_n = {"n"});
void AddTop(std::optional<unsigned> n_top, Options& options);
// Whether, and how long, the model should think: the fields of OpenAI, OpenRouter, Ollama and llama.cpp's server.
void ReadThinking(Fields& fields, Options& options);
// The fields for additional events of llama.cpp's server in a stream.
void ReadStreamFields(Fields& fields, TextRequest& request);
// Called last: moves the options to the request.
void TakeOptions(Options& options, TextRequest& request);

}  // namespace wasinn::serve::openai
