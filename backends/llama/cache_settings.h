// The types of the KV cache, and flash attention.
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

  // Applies `config` over these settings. Throws WASINN_ERROR_INVALID_ARGUMENT.
  void Apply(const backend::Config& config);

  // Throws WASINN_ERROR_INVALID_ARGUMENT if the model's keys or values cannot be packed, which llama.cpp only asserts.
  void Check(const LlamaLibrary& library, const ModelScan& scan) const;
  // For one token.
  uint64_t BytesPerToken(const LlamaLibrary& library, const ModelScan& scan) const;
};

}  // namespace wasinn::llama
