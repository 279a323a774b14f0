// llama.cpp's own loop, written against llama.h, for comparison.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct llama_sampler;

namespace wasinn::test {

// Seconds; of this thread's CPU with WASINN_BENCH_CPU=1, which says more on a machine that does other things, too.
double Now();

struct NativeSettings {
  uint32_t context = 512;
  int32_t predict = 32;
  int threads = 1;
  float temperature = 0.8F;
  int32_t top_k = 40;
  float top_p = 0.95F;
  float min_p = 0.05F;
  float typical_p = 1;
  float repeat_penalty = 1;
  float presence_penalty = 0;
  float frequency_penalty = 0;
  int32_t repeat_tokens = 64;
  uint32_t seed = 1;
  float dry_multiplier = 0;
  float xtc_probability = 0;
  int mirostat = 0;
  std::vector<std::pair<int32_t, float>> logit_bias;
  // When so many tokens are held, half of those behind the first `keep` are discarded. 0: never.
  size_t room = 0, keep = 0;
  int type_k = 1, type_v = 1;      // ggml's numbers: F16
  int flash = -1;                  // as llama_flash_attn_type has it
  std::function<void()> on_piece;  // called after each token, if set
};

struct NativeCompletion {
  std::vector<int32_t> prompt, tokens;
  std::string bytes;  // of the tokens
  double prompt_seconds = 0, generation_seconds = 0, first_seconds = 0;
};

class NativeLlama {
 public:
  explicit NativeLlama(const std::string& path);
  ~NativeLlama();
  NativeLlama(const NativeLlama&) = delete;
  NativeLlama& operator=(const NativeLlama&) = delete;

  // `loras`: paths and scales.
  using Loras = std::vector<std::pair<std::string, float>>;
  NativeCompletion Complete(const std::string& prompt, const NativeSettings& settings = {},
                            const Loras& loras = {}) const;
  // `n` conversations that begin alike, in one batch, each time with the most probable token: seconds for the
  // prompts and `predict` tokens each.
  double CompleteMany(const std::string& prompt, int32_t n, int32_t predict, int threads) const;
  std::vector<int32_t> Tokenize(const std::string& text) const;
  // The mean of the tokens', of length 1.
  std::vector<float> Embed(const std::string& text) const;

 private:
  void AddSamplers(const NativeSettings& settings, const std::function<void(llama_sampler*)>& add) const;
  struct Api;
  std::unique_ptr<Api> api_;
};

}  // namespace wasinn::test
