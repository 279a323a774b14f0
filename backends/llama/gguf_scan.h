// The metadata of a GGUF file's model.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace wasinn::llama {

// The block of an element type: its elements, and its bytes. 0: unknown type.
struct GgufBlock {
  uint64_t elements = 0, bytes = 0;
  bool packs_weights = false;  // in fewer bits than a number has
};

struct ScanOptions {
  std::function<GgufBlock(uint32_t type)> block_of;  // by ggml's numbers
  bool of_guest = false;                             // a guest's bytes, which may name no other file
};

// The numbers for estimates of memory and for prompts. 0: not in the file.
struct ModelScan {
  std::string architecture;
  std::string name;
  uint64_t trained_context = 0;
  uint64_t embedding = 0;
  uint64_t layers = 0;
  uint64_t feed_forward = 0;
  uint64_t heads = 0;  // the largest of all layers, like the next three
  uint64_t kv_heads = 0;
  uint64_t key_length = 0;
  uint64_t value_length = 0;
  uint64_t state_length = 0;  // numbers that a layer of a recurrent model keeps for each conversation
  uint64_t vocabulary = 0;
  uint64_t longest_token = 0;  // in bytes
  bool has_pooling = false;
  bool causal = true;      // false: tokens depend on later ones, so the model cannot generate
  uint64_t positions = 0;  // with an embedding; 0: positions are computed, without a limit
  uint64_t tensor_bytes = 0;
  uint64_t packed_bytes = 0;  // in types that ggml repacks for some processors
  uint64_t token_bytes = 0;   // of all tokens' texts
  uint64_t merges = 0;

  // The memory that llama.cpp needs in addition to the file: repacked tensors, and tables of the vocabulary.
  uint64_t kept_bytes() const {
    constexpr uint64_t kPerEntry = 256;
    return packed_bytes + 4 * token_bytes + kPerEntry * (vocabulary + merges);
  }
};

// Throws WASINN_ERROR_INVALID_ENCODING for an invalid file, WASINN_ERROR_SECURITY for a guest's part of a split model.
ModelScan ScanGguf(std::span<const uint8_t> bytes, const ScanOptions& options);

}  // namespace wasinn::llama
