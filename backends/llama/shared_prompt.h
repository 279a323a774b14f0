// A beginning that many guests' prompts have, evaluated once.
#pragma once

#include <wasinn/backend.h>

#include <string>

#include "llama/state.h"

namespace wasinn::llama {

// Of a text, as contexts of the model's own settings take it up. Throws what a prompt's evaluation does.
StatePtr EvaluateSharedPrompt(const Model& model, const std::string& text, const wasinn_load_options& options);

}  // namespace wasinn::llama
