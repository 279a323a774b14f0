// The settings of a guest that decodes itself.
#pragma once

#include <cstdint>
#include <optional>

#include "common/config.h"

namespace wasinn::llama {

struct DecodeSettings {
  bool on = false;
  int32_t top = 0;  // the number of highest logits of each token; 0: all
  // The first token whose logits are returned, counted from 0 in the text; empty: only the last one.
  std::optional<uint32_t> position;

  // Applies `config` over these settings. Throws WASINN_ERROR_INVALID_ARGUMENT.
  void Apply(const backend::Config& config);
};

}  // namespace wasinn::llama
