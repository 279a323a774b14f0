// A beginning of many guests' prompts, evaluated once.
#pragma once

#include <wasinn/backend.h>

#include <string>

#include "llama/state.h"

namespace wasinn::llama {

// For contexts with the model's own settings. Throws like the evaluation of a prompt.
StatePtr EvaluateSharedPrompt(const Model& model, const std::string& text, const wasinn_load_options& options);

}  // namespace wasinn::llama
