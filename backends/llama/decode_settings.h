// What a guest that decodes itself asks for.
#pragma once

#include <cstdint>
#include <optional>

#include "common/config.h"

namespace wasinn::llama {

struct DecodeSettings {
  bool on = false;
  int32_t top = 0;  // of each token's logits, the highest; 0: all
  // The first token whose logits are told; or the last one's alone. Of the text, from 0.
  std::optional<uint32_t> position;

  // What `config` says on top of these. Throws WASINN_ERROR_INVALID_ARGUMENT.
  void Apply(const backend::Config& config);
};

}  // namespace wasinn::llama
