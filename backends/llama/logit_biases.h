// Biases that are added to the logits of tokens.
#pragma once

#include <vector>

#include "llama/llama_library.h"
#include "llama/sampling_settings.h"

namespace wasinn::llama {

class Model;

// All biases of the settings: of a text for each of its tokens, and with `ignore_end` of tokens that end a text. Throws
// WASINN_ERROR_INVALID_ARGUMENT for a token that the model does not have.
std::vector<llama_logit_bias> BiasesByToken(const Model& model, const SamplingSettings& settings);

}  // namespace wasinn::llama
