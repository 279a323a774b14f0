#include "serve/metrics/text_metrics.h"

#include "core/metrics/exposition.h"

namespace wasinn::serve {

using core::Exposition;

void TextMetrics::AddFirst(const std::string& model, const std::string& version, std::chrono::nanoseconds took) {
  const std::lock_guard lock(mutex_);
  models_[Key(model, version)].first.Observe(took);
}

void TextMetrics::AddNext(const std::string& model, const std::string& version, std::chrono::nanoseconds took) {
  const std::lock_guard lock(mutex_);
  models_[Key(model, version)].next.Observe(took);
}

void TextMetrics::AddTokens(const std::string& model, const std::string& version, uint64_t read, uint64_t written) {
  const std::lock_guard lock(mutex_);
  Model& of = models_[Key(model, version)];
  of.read += read;
  of.written += written;
}

std::string TextMetrics::Text(bool has_aliases) const {
  Exposition out;
  const std::lock_guard lock(mutex_);
  if (models_.empty()) return "";
  const auto sum = [](const core::Histogram& histogram) {
    core::Histogram::Sum of;
    of.Add(histogram);
    return of;
  };
  const auto family = [&](std::string_view name, std::string_view alias, Exposition::Type type, std::string_view help,
                          const auto& value) {
    out.Family(name, type, help);
    for (const auto& [key, model] : models_) out.Sample({{"model", key.first}, {"version", key.second}}, value(model));
    if (!has_aliases) return;
    out.Family(alias, type, help);
    for (const auto& [key, model] : models_) {
      out.Sample({{"model_name", key.first}, {"version", key.second}}, value(model));
    }
  };
  using enum Exposition::Type;
  family("wasinn_serve_prompt_tokens_total", "vllm:prompt_tokens_total", kCounter, "Tokens of prompts",
         [](const Model& model) { return model.read; });
  family("wasinn_serve_completion_tokens_total", "vllm:generation_tokens_total", kCounter, "Tokens of texts",
         [](const Model& model) { return model.written; });
  family("wasinn_serve_first_token_duration_seconds", "vllm:time_to_first_token_seconds", kHistogram,
         "From a request for a text to its first token", [&](const Model& model) { return sum(model.first); });
  family("wasinn_serve_next_token_duration_seconds", "vllm:inter_token_latency_seconds", kHistogram,
         "From one token of a text to the next one", [&](const Model& model) { return sum(model.next); });
  return std::move(out).Take();
}

}  // namespace wasinn::serve
