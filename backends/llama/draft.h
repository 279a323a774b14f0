// A small model next to a model, which drafts its next tokens.
#pragma once

#include <wasinn/backend.h>

#include <cstdint>
#include <memory>
#include <string>

#include "common/config.h"

namespace wasinn::llama {

class Model;

// Only the host sets these.
struct DraftSettings {
  std::string path;                // empty: no draft
  uint32_t most = 8;               // the most tokens drafted at a time
  uint32_t least = 1;              // fewer are not worth a check
  double least_probability = 0.3;  // drafting ends at a token with a lower probability

  // Throws WASINN_ERROR_INVALID_ARGUMENT.
  static DraftSettings Parse(const backend::Config& host);
};

// Loads it as a model of the host. Throws WASINN_ERROR_INVALID_ARGUMENT if it cannot draft for `model`: their tokens
// differ, or one of them cannot go back.
std::unique_ptr<Model> LoadDraft(const Model& model, const DraftSettings& settings, const wasinn_load_options& options);

}  // namespace wasinn::llama
