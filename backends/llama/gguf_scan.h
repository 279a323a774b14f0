// What a GGUF file says of its model.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace wasinn::llama {

// A block of an element type: how many elements it has, and in how many bytes. 0: the type is not known.
struct GgufBlock {
  uint64_t elements = 0, bytes = 0;
  bool packs_weights = false;  // in fewer bits than a number has
};

struct ScanOptions {
  std::function<GgufBlock(uint32_t type)> block_of;  // by ggml's numbers
  bool of_guest = false;                             // the bytes of a guest, which name no other file
};

// What memory and prompts are reckoned by. 0: the file does not say.
struct ModelScan {
  std::string architecture;
  std::string name;
  uint64_t trained_context = 0;
  uint64_t embedding = 0;
  uint64_t layers = 0;
  uint64_t feed_forward = 0;
  uint64_t heads = 0;  // the largest of any layer, as are the next three
  uint64_t kv_heads = 0;
  uint64_t key_length = 0;
  uint64_t value_length = 0;
  uint64_t state_length = 0;  // numbers that a layer of a recurrent model keeps of each conversation
  uint64_t vocabulary = 0;
  uint64_t longest_token = 0;  // in bytes
  bool has_pooling = false;
  bool causal = true;      // false: a token depends on those behind it, so nothing can be generated
  uint64_t positions = 0;  // that have an embedding; 0: positions are computed, any number of them
  uint64_t tensor_bytes = 0;
  uint64_t packed_bytes = 0;  // of these, in types that ggml writes anew for some processors
  uint64_t token_bytes = 0;   // of all tokens' texts
  uint64_t merges = 0;

  // What llama.cpp keeps of the model beside the file's own bytes: packed tensors, and the vocabulary in its tables.
  uint64_t kept_bytes() const {
    constexpr uint64_t kPerEntry = 256;
    return packed_bytes + 4 * token_bytes + kPerEntry * (vocabulary + merges);
  }
};

// Throws WASINN_ERROR_INVALID_ENCODING for what is no such file, WASINN_ERROR_SECURITY for a part of a model from a guest.
ModelScan ScanGguf(std::span<const uint8_t> bytes, const ScanOptions& options);

}  // namespace wasinn::llama
