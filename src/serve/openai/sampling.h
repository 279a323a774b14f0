// How a text is chosen, by the words of OpenAI's API, and by those that llama.cpp's server has beside; and by a model's keys.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "serve/openai/fields.h"

namespace wasinn::serve::openai {

// The keys of a model's `options`.
class Options {
 public:
  static constexpr size_t kMostBytes = size_t{256} << 10;  // of them all, as the backends have it

  // `value`: as JSON has it. Throws ApiError for more than a model takes.
  void Add(std::string_view key, std::string_view value);
  void AddText(std::string_view key, const std::string& value);
  std::string Take();

  std::optional<uint32_t> seed;  // of which several texts for a prompt have one each

 private:
  std::string text_ = "{";
};

// To those that were taken.
void AddOption(std::string& options, std::string_view key, std::string_view value);

// What a field may say, from 0 on, or from its negative.
struct SamplingLimits {
  double temperature = 2, penalty = 2;
};
// Of llama.cpp's server, which has no others.
inline constexpr SamplingLimits kWideLimits = {.temperature = 1000, .penalty = 1000};

void ReadSampling(Fields& fields, Options& options, const SamplingLimits& limits = {});
// The most tokens, by whichever of these names it came.
inline constexpr std::string_view kNamesOfMostTokens[] = {"max_completion_tokens", "max_tokens", "n_predict",
                                                          "max_new_tokens", "num_predict"};
void ReadMostTokens(Fields& fields, std::span<const std::string_view> names, Options& options);

}  // namespace wasinn::serve::openai
