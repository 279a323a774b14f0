// Writes GGUF files: small language models with random weights, and broken ones.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace wasinn::test {

constexpr uint32_t kGgufU32 = 4, kGgufI32 = 5, kGgufF32 = 6, kGgufBool = 7, kGgufString = 8, kGgufArray = 9,
                   kGgufU64 = 10;
constexpr uint32_t kGgmlF32 = 0, kGgmlF16 = 1;

template <typename T>
std::string BytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}
inline std::string GgufText(const std::string& text) { return BytesOf<uint64_t>(text.size()) + text; }

class GgufWriter {
 public:
  // Replaces a value that is there.
  void Set(const std::string& key, uint32_t type, const std::string& bytes) {
    for (Value& value : values) {
      if (value.key == key) return void(value = {key, type, bytes});
    }
    values.push_back({key, type, bytes});
  }
  void SetU32(const std::string& key, uint32_t value) { Set(key, kGgufU32, BytesOf(value)); }
  void SetF32(const std::string& key, float value) { Set(key, kGgufF32, BytesOf(value)); }
  void SetText(const std::string& key, const std::string& text) { Set(key, kGgufString, GgufText(text)); }
  void SetTexts(const std::string& key, const std::vector<std::string>& texts) {
    std::string bytes = BytesOf(kGgufString) + BytesOf<uint64_t>(texts.size());
    for (const std::string& text : texts) bytes += GgufText(text);
    Set(key, kGgufArray, bytes);
  }
  template <typename T>
  void SetArray(const std::string& key, uint32_t type, const std::vector<T>& numbers) {
    Set(key, kGgufArray,
        BytesOf(type) + BytesOf<uint64_t>(numbers.size()) +
            std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)));
  }
  void Remove(const std::string& key) {
    std::erase_if(values, [&](const Value& value) { return value.key == key; });
  }

  struct Value {
    std::string key;
    uint32_t type = 0;
    std::string bytes;
  };
  struct Tensor {
    std::string name;
    std::vector<uint64_t> dims;
    uint32_t type = kGgmlF32;
    std::string bytes;
    uint64_t added_offset = 0;  // to what it should be
  };
  uint32_t version = 3;
  uint64_t added_tensors = 0, added_values = 0;  // to the counts
  std::vector<Value> values;
  std::vector<Tensor> tensors;

  std::string Write() const {
    std::string file = "GGUF" + BytesOf(version) + BytesOf<uint64_t>(tensors.size() + added_tensors) +
                       BytesOf<uint64_t>(values.size() + added_values);
    for (const Value& value : values) file += GgufText(value.key) + BytesOf(value.type) + value.bytes;
    std::string data;
    for (const Tensor& tensor : tensors) {
      data.resize((data.size() + 31) / 32 * 32);
      file += GgufText(tensor.name) + BytesOf(static_cast<uint32_t>(tensor.dims.size()));
      for (const uint64_t dim : tensor.dims) file += BytesOf(dim);
      file += BytesOf(tensor.type) + BytesOf<uint64_t>(data.size() + tensor.added_offset);
      data += tensor.bytes;
    }
    file.resize((file.size() + 31) / 32 * 32);
    data.resize((data.size() + 31) / 32 * 32);
    return file + data;
  }
};

struct TinyLlama {
  uint32_t embedding = 64, layers = 2, heads = 4, kv_heads = 2, feed_forward = 128, context = 512, seed = 1;
  uint32_t characters = 0;  // more tokens, one for each
};

// The one of this number behind U+4E00.
inline std::string TinyCharacter(uint32_t i) {
  const uint32_t point = 0x4e00 + i;
  return {static_cast<char>(0xe0 | (point >> 12)), static_cast<char>(0x80 | ((point >> 6) & 0x3f)),
          static_cast<char>(0x80 | (point & 0x3f))};
}

// <unk>, <s>, </s>, a token for each byte, and some words.
inline std::vector<std::string> TinyVocabulary() {
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
  for (int i = 0; i < 256; ++i) {
    char text[8];
    snprintf(text, sizeof(text), "<0x%02X>", static_cast<unsigned>(i));
    tokens.emplace_back(text);
  }
  for (const char* word :
       {"\u2581", "a",   "e",         "h",  "n",       "o",      "r",      "s",          "t",    "th",
        "he",     "the", "\u2581the", "an", "\u2581a", "\u00e9", "\u20ac", "\U0001F600", "user", ".",
        ",",      "0",   "1",         "{",  "}",       "\"",     ":",      "b",          "c"}) {
    tokens.emplace_back(word);
  }
  return tokens;
}

inline GgufWriter TinyLlamaWriter(const TinyLlama& shape = {}) {
  GgufWriter writer;
  writer.SetText("general.architecture", "llama");
  writer.SetText("general.name", "tiny");
  writer.SetU32("llama.context_length", shape.context);
  writer.SetU32("llama.embedding_length", shape.embedding);
  writer.SetU32("llama.block_count", shape.layers);
  writer.SetU32("llama.feed_forward_length", shape.feed_forward);
  writer.SetU32("llama.attention.head_count", shape.heads);
  writer.SetU32("llama.attention.head_count_kv", shape.kv_heads);
  writer.SetF32("llama.attention.layer_norm_rms_epsilon", 1e-5F);
  writer.SetU32("llama.rope.dimension_count", shape.embedding / shape.heads);
  std::vector<std::string> vocabulary = TinyVocabulary();
  for (uint32_t i = 0; i < shape.characters; ++i) vocabulary.push_back(TinyCharacter(i));
  std::vector<float> scores;
  std::vector<int32_t> types;
  for (size_t i = 0; i < vocabulary.size(); ++i) {
    scores.push_back(-static_cast<float>(i));
    types.push_back(i == 0 ? 2 : i < 3 ? 3 : i < 259 ? 6 : 1);
  }
  writer.SetText("tokenizer.ggml.model", "llama");
  writer.SetTexts("tokenizer.ggml.tokens", vocabulary);
  writer.SetArray("tokenizer.ggml.scores", kGgufF32, scores);
  writer.SetArray("tokenizer.ggml.token_type", kGgufI32, types);
  writer.SetU32("tokenizer.ggml.bos_token_id", 1);
  writer.SetU32("tokenizer.ggml.eos_token_id", 2);
  writer.SetU32("tokenizer.ggml.unknown_token_id", 0);

  std::mt19937 random(shape.seed);
  std::normal_distribution<float> normal;
  const auto add = [&](const std::string& name, const std::vector<uint64_t>& dims, float scale) {
    uint64_t n = 1;
    for (const uint64_t dim : dims) n *= dim;
    std::vector<float> values(n);
    for (float& value : values) value = scale == 0 ? 1 : scale * normal(random);
    writer.tensors.push_back(
        {name, dims, kGgmlF32, std::string(reinterpret_cast<const char*>(values.data()), n * sizeof(float))});
  };
  const uint64_t width = shape.embedding, kv = uint64_t{shape.embedding} / shape.heads * shape.kv_heads;
  const float scale = 1 / std::sqrt(static_cast<float>(width));
  add("token_embd.weight", {width, vocabulary.size()}, 1);
  for (uint32_t i = 0; i < shape.layers; ++i) {
    const std::string layer = "blk." + std::to_string(i) + ".";
    add(layer + "attn_norm.weight", {width}, 0);
    add(layer + "attn_q.weight", {width, width}, 2 * scale);
    add(layer + "attn_k.weight", {width, kv}, 2 * scale);
    add(layer + "attn_v.weight", {width, kv}, scale);
    add(layer + "attn_output.weight", {width, width}, scale);
    add(layer + "ffn_norm.weight", {width}, 0);
    add(layer + "ffn_gate.weight", {width, shape.feed_forward}, scale);
    add(layer + "ffn_up.weight", {width, shape.feed_forward}, scale);
    add(layer + "ffn_down.weight", {shape.feed_forward, width}, scale);
  }
  add("output_norm.weight", {width}, 0);
  add("output.weight", {width, vocabulary.size()}, 3 * scale);
  return writer;
}

}  // namespace wasinn::test
