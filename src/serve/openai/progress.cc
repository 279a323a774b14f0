#include "serve/openai/progress.h"

#include <algorithm>

#include "serve/openai/text_form.h"

namespace wasinn::serve::openai {

using nlohmann::json;

Outcome<std::optional<json>> Progress::Next(Completion& completion) {
  if (is_over_) return std::nullopt;
  const auto metadata = ReadOutput(completion, "metadata");
  if (!metadata) return std::unexpected(metadata.error());
  const auto count = [&](const char* name) { return metadata->value(name, uint64_t{0}); };
  const uint64_t total = count("input_tokens"), cached = total - std::min(total, count("evaluated_tokens"));
  const bool is_evaluated = count("output_tokens") > 0;  // even if a model reports nothing else
  const uint64_t held = !reported_ ? cached : is_evaluated ? total : count("held_prompt_tokens");
  if (reported_ == held) return std::nullopt;
  reported_ = held;
  is_over_ = held >= total;
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begun_;
  return json{
      {"total", total}, {"cache", cached}, {"processed", held}, {"time_ms", static_cast<int64_t>(time.count())}};
}

}  // namespace wasinn::serve::openai
