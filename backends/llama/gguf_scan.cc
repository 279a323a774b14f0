#include "llama/gguf_scan.h"

#include <algorithm>

#include "common/dtype.h"
#include "common/throw.h"
#include "llama/gguf_reader.h"

namespace wasinn::llama {

using backend::Throw;

namespace {

void CountTensors(const GgufFile& file, const ScanOptions& options, ModelScan* scan) {
  for (const GgufTensor& tensor : file.tensors()) {
    const GgufBlock block = options.block_of(tensor.type);
    if (block.elements == 0) continue;
    uint64_t bytes = block.bytes;
    for (const uint64_t factor : {tensor.dims[0] / block.elements, tensor.dims[1], tensor.dims[2], tensor.dims[3]}) {
      bytes = backend::MulSat(bytes, factor);
    }
    scan->tensor_bytes = backend::AddSat(scan->tensor_bytes, bytes);
    if (block.packs_weights) scan->packed_bytes = backend::AddSat(scan->packed_bytes, bytes);
  }
}

// A number of the architecture, or the largest of an array with one for each layer.
uint64_t LargestOf(const GgufFile& file, const std::string& key) {
  const GgufValue* value = file.Find(key);
  if (value == nullptr) return 0;
  if (!value->is_array) return static_cast<uint64_t>(std::max<int64_t>(value->Integer().value_or(0), 0));
  int64_t largest = 0;
  for (uint64_t i = 0; i < std::min<uint64_t>(value->count, 4096); ++i) {
    largest = std::max(largest, value->IntegerAt(i).value_or(0));
  }
  return static_cast<uint64_t>(largest);
}

void ReadNumbers(const GgufFile& file, ModelScan* scan) {
  const std::string& arch = scan->architecture;
  scan->trained_context = LargestOf(file, arch + ".context_length");
  scan->embedding = LargestOf(file, arch + ".embedding_length");
  scan->layers = LargestOf(file, arch + ".block_count");
  scan->feed_forward = LargestOf(file, arch + ".feed_forward_length");
  scan->heads = LargestOf(file, arch + ".attention.head_count");
  scan->kv_heads = LargestOf(file, arch + ".attention.head_count_kv");
  if (scan->kv_heads == 0) scan->kv_heads = scan->heads;
  scan->key_length = LargestOf(file, arch + ".attention.key_length");
  scan->value_length = LargestOf(file, arch + ".attention.value_length");
  const uint64_t width = scan->heads == 0 ? 0 : scan->embedding / scan->heads;
  if (scan->key_length == 0) scan->key_length = width;
  if (scan->value_length == 0) scan->value_length = width;
  scan->state_length = LargestOf(file, arch + ".ssm.inner_size") *
                           (LargestOf(file, arch + ".ssm.state_size") + LargestOf(file, arch + ".ssm.conv_kernel")) +
                       scan->embedding * (LargestOf(file, arch + ".wkv.head_size") + 2);
  scan->has_pooling = file.Find(arch + ".pooling_type") != nullptr;
  if (const GgufValue* causal = file.Find(arch + ".attention.causal")) scan->causal = causal->Bool().value_or(true);
  const auto positions = std::ranges::find(file.tensors(), "position_embd.weight", &GgufTensor::name);
  if (positions != file.tensors().end()) scan->positions = positions->dims[1];
  // Limits the numbers for memory estimates, so that they do not wrap around.
  for (const uint64_t number :
       {scan->embedding, scan->layers, scan->feed_forward, scan->heads, scan->kv_heads, scan->key_length,
        scan->value_length, LargestOf(file, arch + ".ssm.inner_size"), LargestOf(file, arch + ".ssm.state_size"),
        LargestOf(file, arch + ".ssm.conv_kernel"), LargestOf(file, arch + ".wkv.head_size")}) {
    if (number > 1 << 24) Throw(WASINN_ERROR_INVALID_ENCODING, "no GGUF model: {} says {}", arch, number);
  }
  if (scan->kv_heads > 1 << 16 || scan->layers > 1 << 12 || scan->key_length > 1 << 16 ||
      scan->value_length > 1 << 16) {
    Throw(WASINN_ERROR_INVALID_ENCODING, "not a GGUF model: {} of impossible size", arch);
  }
}

// Its text is repeated in each list that contains it, and many texts are read at a time.
void ReadVocabulary(const GgufFile& file, ModelScan* scan) {
  constexpr uint64_t kLongestToken = 16 << 10;
  const GgufValue* tokens = file.Find("tokenizer.ggml.tokens");
  if (tokens == nullptr) return;
  scan->vocabulary = tokens->count;
  tokens->ForEachString([&](std::string_view token) {
    scan->longest_token = std::max<uint64_t>(scan->longest_token, token.size());
    scan->token_bytes += token.size();
  });
  if (scan->longest_token > kLongestToken) {
    Throw(WASINN_ERROR_INVALID_ENCODING, "not a GGUF model: a token of {} bytes is longer than the limit of {}",
          scan->longest_token, kLongestToken);
  }
}

}  // namespace

ModelScan ScanGguf(std::span<const uint8_t> bytes, const ScanOptions& options) {
  const GgufFile file(bytes);
  ModelScan scan;
  const GgufValue* value = file.Find("general.architecture");
  const auto architecture = value == nullptr ? std::nullopt : value->String();
  // llama.cpp would cut it at a byte 0.
  if (!architecture || architecture->find('\0') != architecture->npos) {
    Throw(WASINN_ERROR_INVALID_ENCODING, "not a GGUF model: it has no general.architecture");
  }
  scan.architecture = *architecture;
  if (const GgufValue* name = file.Find("general.name")) scan.name = name->String().value_or("");
  CountTensors(file, options, &scan);
  // The tensors cannot exceed the file, whatever it says.
  scan.tensor_bytes = std::min<uint64_t>(scan.tensor_bytes, bytes.size());
  scan.packed_bytes = std::min<uint64_t>(scan.packed_bytes, bytes.size());
  ReadNumbers(file, &scan);
  ReadVocabulary(file, &scan);
  if (const GgufValue* merges = file.Find("tokenizer.ggml.merges")) scan.merges = merges->count;
  // llama.cpp would open the other parts next to it.
  const GgufValue* parts = file.Find("split.count");
  if (options.of_guest && parts != nullptr && parts->Integer().value_or(2) > 1) {
    Throw(WASINN_ERROR_SECURITY, "split.count: a model in bytes must have a single part");
  }
  return scan;
}

}  // namespace wasinn::llama
