// llama.cpp's own loop, written against llama.h, for comparison.
#ifndef WASINN_TESTS_BACKENDS_LLAMA_NATIVE_H_
#define WASINN_TESTS_BACKENDS_LLAMA_NATIVE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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
  uint32_t seed = 1;
  std::string lora;  // path
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

  NativeCompletion Complete(const std::string& prompt, const NativeSettings& settings = {}) const;
  // `n` conversations that begin alike, in one batch, each time with the most probable token: seconds for all of
  // `predict` tokens each, without the prompts.
  double CompleteMany(const std::string& prompt, int32_t n, int32_t predict, int threads) const;
  std::vector<int32_t> Tokenize(const std::string& text) const;
  // The mean of the tokens', of length 1.
  std::vector<float> Embed(const std::string& text) const;

 private:
  struct Api;
  std::unique_ptr<Api> api_;
};

}  // namespace wasinn::test

#endif  // WASINN_TESTS_BACKENDS_LLAMA_NATIVE_H_
