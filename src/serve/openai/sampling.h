// Sampling settings and the format of a text: fields of OpenAI's API and of other servers, and the model's keys for them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "serve/openai/fields.h"

namespace wasinn::serve::openai {

// Collects keys for a model's `options`.
class Options {
 public:
  static constexpr size_t kMaxBytes = size_t{256} << 10;  // of all keys; the backends' limit

  // `value`: as JSON. Throws ApiError beyond the limit.
  void Add(std::string_view key, std::string_view value);
  void AddText(std::string_view key, const std::string& value);
  std::string Take();

  std::optional<uint32_t> seed;  // each of several texts for a prompt has its own

 private:
  std::string text_ = "{";
};

// Adds to finished options.
void AddOption(std::string& options, std::string_view key, std::string_view value);

// Limits of fields, from 0 or the negative of the limit on.
struct SamplingLimits {
  double temperature = 2, penalty = 2;
};
// llama.cpp's server has no other limits.
inline constexpr SamplingLimits kWideLimits = {.temperature = 1000, .penalty = 1000};

void ReadSampling(Fields& fields, Options& options, const SamplingLimits& limits = {});
// All names of the token limit.
inline constexpr std::string_view kNamesOfMostTokens[] = {"max_completion_tokens", "max_tokens", "n_predict",
                                                          "max_new_tokens", "num_predict"};
void ReadMostTokens(Fields& fields, std::span<const std::string_view> names, Options& options);

// Reads `response_format`, or a field of llama.cpp's server, vLLM, SGLang or Ollama; at most one. Throws ApiError, also
// for an unsupported format.
void ReadResponseFormat(Fields& fields, Options& options);
// `text.format` of /v1/responses.
void ReadTextFormat(Fields& fields, Options& options);

}  // namespace wasinn::serve::openai
