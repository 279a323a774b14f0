#include "llama/cache_settings.h"

#include <iterator>

#include "common/throw.h"
#include "llama/gguf_scan.h"

namespace wasinn::llama {

using backend::Config;
using backend::Throw;

namespace {

// The types that llama.cpp's programs accept.
constexpr const char* kTypeNames[] = {"f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "iq4_nl", "q5_0", "q5_1"};
constexpr ggml_type kTypes[] = {GGML_TYPE_F32,  GGML_TYPE_F16,    GGML_TYPE_BF16, GGML_TYPE_Q8_0, GGML_TYPE_Q4_0,
                                GGML_TYPE_Q4_1, GGML_TYPE_IQ4_NL, GGML_TYPE_Q5_0, GGML_TYPE_Q5_1};
static_assert(std::size(kTypeNames) == std::size(kTypes));
constexpr const char* kFlashNames[] = {"auto", "on", "off"};
constexpr llama_flash_attn_type kFlash[] = {LLAMA_FLASH_ATTN_TYPE_AUTO, LLAMA_FLASH_ATTN_TYPE_ENABLED,
                                            LLAMA_FLASH_ATTN_TYPE_DISABLED};

bool IsPacked(ggml_type type) { return type != GGML_TYPE_F32 && type != GGML_TYPE_F16 && type != GGML_TYPE_BF16; }

void CheckLength(const LlamaLibrary& library, const char* key, ggml_type type, uint64_t length) {
  const auto block = static_cast<uint64_t>(library.block_elements(type));
  if (length % block == 0) return;
  Throw(WASINN_ERROR_INVALID_ARGUMENT, "{}: this type packs {} numbers at a time, and a head of the model has {}", key,
        block, length);
}

uint64_t RowBytes(const LlamaLibrary& library, ggml_type type, uint64_t length) {
  return length * library.block_bytes(type) / static_cast<uint64_t>(library.block_elements(type));
}

}  // namespace

bool CacheSettings::packs_keys() const { return IsPacked(keys); }

void CacheSettings::Apply(const Config& config) {
  if (const auto type = config.Word("cache-type-k", kTypeNames)) keys = kTypes[*type];
  if (const auto type = config.Word("cache-type-v", kTypeNames)) values = kTypes[*type];
  if (const auto word = config.Word("flash-attn", kFlashNames)) flash = kFlash[*word];
  // llama.cpp packs keys without it, but then does not check whether they can be.
  if (flash == LLAMA_FLASH_ATTN_TYPE_DISABLED && (IsPacked(keys) || IsPacked(values))) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT,
          "cache-type-k, cache-type-v: types other than f32, f16 and bf16 need flash-attn");
  }
}

void CacheSettings::Check(const LlamaLibrary& library, const ModelScan& scan) const {
  CheckLength(library, "cache-type-k", keys, scan.key_length);
  CheckLength(library, "cache-type-v", values, scan.value_length);
}

uint64_t CacheSettings::BytesPerToken(const LlamaLibrary& library, const ModelScan& scan) const {
  return scan.layers * scan.kv_heads *
         (RowBytes(library, keys, scan.key_length) + RowBytes(library, values, scan.value_length));
}

}  // namespace wasinn::llama
