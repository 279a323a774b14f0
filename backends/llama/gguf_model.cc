#include "llama/gguf_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_set>

#include "common/error.h"

namespace wasinn::llama {

using backend::Error;

namespace {

// llama.cpp's own limits.
constexpr int64_t kMostLayers = 512;
constexpr uint64_t kMostTokens = 1 << 22, kLongestToken = 4096;
constexpr int64_t kByteToken = 6;

template <typename... Args>
[[noreturn]] void RefuseModel(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(WASINN_INVALID_ENCODING, "no GGUF model: " + fmt::format(format, std::forward<Args>(args)...));
}

// Other files would be opened: llama.cpp looks for the parts of a split model beside it.
void CheckAlone(const GgufFile& file) {
  const GgufValue* split = file.Find("split.count");
  if (split != nullptr && split->Integer().value_or(2) > 1) {
    throw Error(WASINN_SECURITY, "split.count: a guest's model must be one file");
  }
}

// What of the architecture "llama" is served. A key that is not among these could lead llama.cpp to code that nobody
// has looked at.
constexpr const char* kServedKeys[] = {"vocab_size",
                                       "context_length",
                                       "embedding_length",
                                       "block_count",
                                       "feed_forward_length",
                                       "expert_count",
                                       "expert_used_count",
                                       "rope.dimension_count",
                                       "rope.freq_base",
                                       "rope.scaling.type",
                                       "rope.scaling.factor",
                                       "rope.scaling.attn_factor",
                                       "rope.scaling.original_context_length",
                                       "rope.scaling.finetuned",
                                       "rope.scale_linear",
                                       "attention.head_count",
                                       "attention.head_count_kv",
                                       "attention.layer_norm_rms_epsilon",
                                       "attention.layer_norm_epsilon",
                                       "attention.key_length",
                                       "attention.value_length"};

class LlamaCheck {
 public:
  LlamaCheck(const GgufFile& file, const ModelScan& scan) : file_(file), scan_(scan) {}

  void Run() const {
    CheckKeys();
    Whole("context_length", 1, INT32_MAX);
    const int64_t embedding = Whole("embedding_length", 1, 1 << 20);
    const int64_t layers = Whole("block_count", 1, kMostLayers);
    CheckLayers("feed_forward_length", layers, 1, 1 << 22);
    if (file_.Find("llama.vocab_size") != nullptr) Whole("vocab_size", 1, kMostTokens);
    for (const char* none : {"expert_count", "expert_used_count"}) {
      if (file_.Find(std::string("llama.") + none) != nullptr) Whole(none, 0, 0);
    }
    CheckHeads(embedding, layers);
    CheckNumbers();
  }

 private:
  const GgufValue& Value(const char* key) const {
    const GgufValue* value = file_.Find(std::string("llama.") + key);
    if (value == nullptr) RefuseModel("llama.{} is missing", key);
    return *value;
  }

  int64_t Whole(const char* key, int64_t least, int64_t most) const {
    const GgufValue& value = Value(key);
    const auto number = value.Integer();
    // llama.cpp reads no other type than this.
    if (value.type != GgufType::kU32 || !number || *number < least || *number > most) {
      RefuseModel("llama.{}: expected a whole number from {} to {}", key, least, most);
    }
    return *number;
  }

  // One number, or one for each layer.
  std::vector<int64_t> CheckLayers(const char* key, int64_t layers, int64_t least, int64_t most) const {
    const GgufValue& value = Value(key);
    if (!value.is_array) return std::vector(static_cast<size_t>(layers), Whole(key, least, most));
    if (value.count != static_cast<uint64_t>(layers))
      RefuseModel("llama.{}: {} values for {} layers", key, value.count, layers);
    std::vector<int64_t> all;
    for (uint64_t i = 0; i < value.count; ++i) {
      const auto number = value.IntegerAt(i);
      if (!number || *number < least || *number > most) {
        RefuseModel("llama.{}: expected whole numbers from {} to {}", key, least, most);
      }
      all.push_back(*number);
    }
    return all;
  }

  void CheckHeads(int64_t embedding, int64_t layers) const {
    const auto heads = CheckLayers("attention.head_count", layers, 1, 1 << 16);
    const auto kv = file_.Find("llama.attention.head_count_kv") == nullptr
                        ? heads
                        : CheckLayers("attention.head_count_kv", layers, 1, 1 << 16);
    for (size_t i = 0; i < heads.size(); ++i) {
      if (heads[i] % kv[i] != 0) RefuseModel("{} heads share {} of the KV cache", heads[i], kv[i]);
    }
    int64_t width = embedding / heads[0];
    if (file_.Find("llama.attention.key_length") != nullptr) {
      width = Whole("attention.key_length", 1, 1 << 14);
    } else if (embedding % heads[0] != 0) {
      RefuseModel("{} heads for an embedding of {}", heads[0], embedding);
    }
    int64_t value_width = embedding / heads[0];
    if (file_.Find("llama.attention.value_length") != nullptr)
      value_width = Whole("attention.value_length", 1, 1 << 14);
    if (width == 0 || width % 2 != 0 || width > 1 << 14) RefuseModel("attention heads of width {}", width);
    // llama.cpp asserts these two when it builds a graph.
    if (value_width != width) RefuseModel("keys of width {} and values of width {}", width, value_width);
    if (file_.Find("llama.rope.dimension_count") != nullptr) Whole("rope.dimension_count", width, width);
  }

  void CheckKeys() const {
    for (const auto& [key, value] : file_.values()) {
      if (!key.starts_with("llama.")) continue;
      if (std::ranges::find(kServedKeys, key.substr(6)) == std::end(kServedKeys)) {
        throw Error(WASINN_SECURITY, fmt::format("{} is not served in a guest's model", key));
      }
    }
  }

  void CheckNumbers() const {
    for (const char* key : {"llama.attention.layer_norm_rms_epsilon", "llama.rope.freq_base",
                            "llama.rope.scaling.factor", "llama.rope.scaling.attn_factor", "llama.rope.scale_linear"}) {
      const GgufValue* value = file_.Find(key);
      if (value == nullptr) continue;
      const auto number = value->Number();
      if (value->type != GgufType::kF32 || !number || !std::isfinite(*number) || *number < 0 || *number > 1e12) {
        RefuseModel("{}: expected a number from 0 on", key);
      }
    }
    if (const GgufValue* type = file_.Find("llama.rope.scaling.type")) {
      const auto word = type->String();
      if (!word || (*word != "none" && *word != "linear" && *word != "yarn" && *word != "longrope")) {
        RefuseModel("llama.rope.scaling.type: expected none, linear, yarn or longrope");
      }
    }
  }

  const GgufFile& file_;
  const ModelScan& scan_;
};

void CheckTokenArray(const GgufFile& file, const char* key, uint64_t n, std::initializer_list<GgufType> types) {
  const GgufValue* value = file.Find(key);
  if (value == nullptr) return;
  if (!value->is_array || std::ranges::find(types, value->type) == types.end() || value->count != n) {
    RefuseModel("{}: expected one for each of {} tokens", key, n);
  }
}

void CheckTokenIds(const GgufFile& file, uint64_t n) {
  for (const auto& [key, value] : file.values()) {
    if (!key.starts_with("tokenizer.ggml.") || !key.ends_with("_token_id")) continue;
    const auto id = value.Integer();
    if (value.type != GgufType::kU32 || !id || static_cast<uint64_t>(*id) >= n) {
      RefuseModel("{}: expected one of {} tokens", key, n);
    }
  }
}

// llama.cpp asserts that no two tokens are the same, also after it has given names to empty ones.
void CheckTokens(const GgufValue& tokens) {
  std::unordered_set<std::string_view> known;
  known.reserve(tokens.count);
  tokens.ForEachString([&](std::string_view token) {
    if (token.empty() || token.size() > kLongestToken) RefuseModel("a token of {} bytes", token.size());
    // llama.cpp takes it up to there, and then it may be the same as another.
    if (token.find('\0') != std::string_view::npos) RefuseModel("a token with a byte 0");
    if (!known.insert(token).second) RefuseModel("two tokens are '{}'", token);
  });
}

void CheckVocabulary(const GgufFile& file, const ModelScan& scan) {
  const GgufValue* model = file.Find("tokenizer.ggml.model");
  const auto kind = model == nullptr ? std::nullopt : model->String();
  if (kind != "llama" && kind != "gpt2") {
    throw Error(WASINN_SECURITY, "tokenizer.ggml.model: of a guest's models, llama and gpt2 are served");
  }
  const GgufValue* tokens = file.Find("tokenizer.ggml.tokens");
  if (tokens == nullptr || !tokens->is_array || tokens->type != GgufType::kString || tokens->count < 4 ||
      tokens->count > kMostTokens) {
    RefuseModel("tokenizer.ggml.tokens: expected 4 to {} strings", kMostTokens);
  }
  CheckTokens(*tokens);
  CheckTokenArray(file, "tokenizer.ggml.scores", scan.vocabulary, {GgufType::kF32, GgufType::kI32});
  CheckTokenArray(file, "tokenizer.ggml.token_type", scan.vocabulary, {GgufType::kI32});
  CheckTokenIds(file, scan.vocabulary);
  const GgufValue* types = file.Find("tokenizer.ggml.token_type");
  for (uint64_t i = 0; types != nullptr && kind == "gpt2" && i < types->count; ++i) {
    if (types->IntegerAt(i) == kByteToken) RefuseModel("token {} is a byte, which gpt2's tokens cannot be", i);
  }
  const GgufValue* scores = file.Find("tokenizer.ggml.scores");
  for (uint64_t i = 0; scores != nullptr && scores->type == GgufType::kF32 && i < scores->count; ++i) {
    float score = 0;
    std::copy_n(scores->bytes.data() + 4 * i, 4, reinterpret_cast<uint8_t*>(&score));
    // Sorted by, and nothing sorts by what is no number.
    if (!std::isfinite(score)) RefuseModel("the score of token {} is {}", i, score);
  }
  // A tokenizer that begins each text with a token that there is not.
  const GgufValue* adds = file.Find("tokenizer.ggml.add_bos_token");
  if (kind == "gpt2" && adds != nullptr && adds->Bool().value_or(true) &&
      file.Find("tokenizer.ggml.bos_token_id") == nullptr) {
    RefuseModel("tokenizer.ggml.bos_token_id is missing");
  }
}

}  // namespace

void CheckGuestModel(const GgufFile& file, const ModelScan& scan, const ScanOptions& options) {
  CheckAlone(file);
  if (std::ranges::find(options.architectures, scan.architecture) == options.architectures.end()) {
    throw Error(WASINN_SECURITY, fmt::format("architecture '{}': a guest's model may have {}; more can be allowed with "
                                             "guest_architectures in [backends.llama]",
                                             scan.architecture, fmt::join(options.architectures, ", ")));
  }
  if (scan.architecture == "llama") LlamaCheck(file, scan).Run();
  CheckVocabulary(file, scan);
}

}  // namespace wasinn::llama
