// How the cache of keys and values is kept, and attention computed.
#pragma once

#include <llama.h>

#include <cstdint>

#include "common/config.h"
#include "llama/llama_library.h"

namespace wasinn::llama {

struct ModelScan;

// The names and defaults are llama.cpp's.
struct CacheSettings {
  ggml_type keys = GGML_TYPE_F16;
  ggml_type values = GGML_TYPE_F16;
  llama_flash_attn_type flash = LLAMA_FLASH_ATTN_TYPE_AUTO;

  bool operator==(const CacheSettings&) const = default;

  // In fewer bits than a number has.
  bool packs_keys() const;

  // What `config` says on top of these. Throws WASINN_ERROR_INVALID_ARGUMENT.
  void Apply(const backend::Config& config);

  // Throws WASINN_ERROR_INVALID_ARGUMENT where the model's keys or values cannot be packed so: llama.cpp asserts that they can.
  void Check(const LlamaLibrary& library, const ModelScan& scan) const;
  // Of one token.
  uint64_t BytesPerToken(const LlamaLibrary& library, const ModelScan& scan) const;
};

}  // namespace wasinn::llama
