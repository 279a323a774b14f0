// What is added to the logits of tokens, by their numbers.
#pragma once

#include <vector>

#include "llama/llama_library.h"
#include "llama/sampling_settings.h"

namespace wasinn::llama {

class Model;

// Of all that the settings name: of a text those of its tokens, and with `ignore_end` of those that end a text. Throws
// WASINN_ERROR_INVALID_ARGUMENT for a token that the model does not have.
std::vector<llama_logit_bias> BiasesByToken(const Model& model, const SamplingSettings& settings);

}  // namespace wasinn::llama
