#include "llama/gguf_scan.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "llama/gguf_model.h"
#include "llama/gguf_reader.h"

namespace wasinn::llama {

using backend::Error;

namespace {

constexpr uint32_t kF32 = 0, kF16 = 1, kBf16 = 30;

template <typename... Args>
[[noreturn]] void RefuseTensor(const GgufTensor& tensor, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(WASINN_INVALID_ENCODING, fmt::format("no GGUF model: tensor '{}': {}", tensor.name,
                                                   fmt::format(format, std::forward<Args>(args)...)));
}

// 0: of a type that is not known.
uint64_t BytesOf(const GgufTensor& tensor, const GgufBlock& block) {
  if (block.elements == 0) return 0;
  if (tensor.dims[0] % block.elements != 0) {
    RefuseTensor(tensor, "rows of {} elements: blocks have {}", tensor.dims[0], block.elements);
  }
  const uint64_t elements = tensor.dims[0] * tensor.dims[1] * tensor.dims[2] * tensor.dims[3];
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(elements / block.elements, block.bytes, &bytes)) RefuseTensor(tensor, "is too large");
  return bytes;
}

void CheckTensors(const GgufFile& file, const ScanOptions& options, ModelScan* scan) {
  for (const GgufTensor& tensor : file.tensors()) {
    const GgufBlock block = options.block_of(tensor.type);
    const uint64_t bytes = BytesOf(tensor, block);
    // Norms, biases and the like, which ggml aborts on where they are anything else.
    const bool one_row = tensor.dims[1] == 1 && tensor.dims[2] == 1 && tensor.dims[3] == 1;
    if (options.of_guest && one_row && tensor.type != kF32)
      RefuseTensor(tensor, "one row of type {}: expected F32", tensor.type);
    const bool is_plain = tensor.type == kF32 || tensor.type == kF16 || tensor.type == kBf16;
    // Of other types are numbers on the way only, and ggml has nothing to multiply weights of them with.
    if (options.of_guest && (bytes == 0 || !(is_plain || block.packs_weights))) {
      RefuseTensor(tensor, "elements of type {}, which is none of weights", tensor.type);
    }
    if (tensor.offset % file.alignment() != 0) {
      RefuseTensor(tensor, "offset {} is no multiple of {}", tensor.offset, file.alignment());
    }
    if (tensor.offset > file.data_size() || bytes > file.data_size() - tensor.offset) {
      RefuseTensor(tensor, "{} bytes at offset {}: the file has {} bytes of data", bytes, tensor.offset,
                   file.data_size());
    }
    scan->tensor_bytes += bytes;  // less than the file has tensors times its size
    if (block.packs_weights) scan->packed_bytes += bytes;
  }
}

// A number of the architecture's, or the largest of an array with one for each layer.
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

// How the embeddings of a text's tokens become one, by llama.cpp's numbers. It aborts on another number, and on more
// labels than there are values to read them from.
void ReadPooling(const GgufFile& file, const std::string& arch, ModelScan* scan) {
  constexpr int64_t kMostPooling = 4, kRank = 4;
  const GgufValue* pooling = file.Find(arch + ".pooling_type");
  scan->has_pooling = pooling != nullptr;
  if (pooling == nullptr) return;
  const auto kind = pooling->Integer();
  if (!kind || *kind < 0 || *kind > kMostPooling) {
    throw Error(WASINN_INVALID_ENCODING,
                fmt::format("no GGUF model: {}.pooling_type: expected 0 to {}", arch, kMostPooling));
  }
  const GgufValue* labels = file.Find(arch + ".classifier.output_labels");
  const bool has_head =
      std::ranges::find(file.tensors(), "cls.output.weight", &GgufTensor::name) != file.tensors().end();
  if (*kind == kRank && labels != nullptr && !has_head && labels->count > LargestOf(file, arch + ".embedding_length")) {
    throw Error(WASINN_INVALID_ENCODING,
                fmt::format("no GGUF model: {} labels without a tensor cls.output.weight", labels->count));
  }
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
  ReadPooling(file, arch, scan);
  if (const GgufValue* causal = file.Find(arch + ".attention.causal")) scan->causal = causal->Bool().value_or(true);
  const auto positions = std::ranges::find(file.tensors(), "position_embd.weight", &GgufTensor::name);
  if (positions != file.tensors().end()) scan->positions = positions->dims[1];
  // What memory is reckoned by must not wrap around.
  for (const uint64_t number :
       {scan->embedding, scan->layers, scan->feed_forward, scan->heads, scan->kv_heads, scan->key_length,
        scan->value_length, LargestOf(file, arch + ".ssm.inner_size"), LargestOf(file, arch + ".ssm.state_size"),
        LargestOf(file, arch + ".ssm.conv_kernel"), LargestOf(file, arch + ".wkv.head_size")}) {
    if (number > 1 << 24) throw Error(WASINN_INVALID_ENCODING, fmt::format("no GGUF model: {} says {}", arch, number));
  }
  if (scan->kv_heads > 1 << 16 || scan->layers > 1 << 12 || scan->key_length > 1 << 16 ||
      scan->value_length > 1 << 16) {
    throw Error(WASINN_INVALID_ENCODING, fmt::format("no GGUF model: {} of impossible size", arch));
  }
}

}  // namespace

ModelScan ScanGguf(std::span<const uint8_t> bytes, const ScanOptions& options) {
  const GgufFile file(bytes);
  ModelScan scan;
  const GgufValue* value = file.Find("general.architecture");
  const auto architecture = value == nullptr ? std::nullopt : value->String();
  if (!architecture) throw Error(WASINN_INVALID_ENCODING, "no GGUF model: it has no general.architecture");
  scan.architecture = *architecture;
  if (const GgufValue* name = file.Find("general.name")) scan.name = name->String().value_or("");
  CheckTensors(file, options, &scan);
  ReadNumbers(file, &scan);
  if (const GgufValue* tokens = file.Find("tokenizer.ggml.tokens")) {
    scan.vocabulary = tokens->count;
    tokens->ForEachString([&](std::string_view token) {
      scan.longest_token = std::max<uint64_t>(scan.longest_token, token.size());
      scan.token_bytes += token.size();
    });
  }
  if (const GgufValue* merges = file.Find("tokenizer.ggml.merges")) scan.merges = merges->count;
  if (options.of_guest) CheckGuestModel(file, scan, options);
  return scan;
}

}  // namespace wasinn::llama
