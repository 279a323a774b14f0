// A small model beside a model, which guesses what the model will say.
#pragma once

#include <wasinn/backend.h>

#include <cstdint>
#include <memory>
#include <string>

#include "common/config.h"

namespace wasinn::llama {

class Model;

// The host's alone.
struct DraftSettings {
  std::string path;                // empty: none
  uint32_t most = 8;               // tokens that are guessed at once
  uint32_t least = 1;              // fewer are not worth a check
  double least_probability = 0.3;  // guessing ends at a token that the small model is less sure of

  // Throws WASINN_ERROR_INVALID_ARGUMENT.
  static DraftSettings Parse(const backend::Config& host);
};

// Loads it as the host's. Throws WASINN_ERROR_INVALID_ARGUMENT where it cannot guess for `model`: its tokens are others, or
// one of the two cannot go back.
std::unique_ptr<Model> LoadDraft(const Model& model, const DraftSettings& settings, const wasinn_load_options& options);

}  // namespace wasinn::llama
