#include "serve/text_metrics.h"

#include "core/metrics/exposition.h"

namespace wasinn::serve {

using core::Exposition;

void TextMetrics::AddFirst(const std::string& model, const std::string& version, std::chrono::nanoseconds took) {
  const std::lock_guard lock(mutex_);
  models_[Key(model, version)].first.Observe(took);
}

void TextMetrics::AddTokens(const std::string& model, const std::string& version, uint64_t read, uint64_t written) {
  const std::lock_guard lock(mutex_);
  Model& of = models_[Key(model, version)];
  of.read += read;
  of.written += written;
}

std::string TextMetrics::Text() const {
  Exposition out;
  const std::lock_guard lock(mutex_);
  if (models_.empty()) return "";
  const auto family = [&](std::string_view name, Exposition::Type type, std::string_view help, const auto& value) {
    out.Family(name, type, help);
    for (const auto& [key, model] : models_) out.Sample({{"model", key.first}, {"version", key.second}}, value(model));
  };
  family("wasinn_serve_prompt_tokens_total", Exposition::Type::kCounter,
         "Tokens of prompts that were answered over /v1", [](const Model& model) { return model.read; });
  family("wasinn_serve_completion_tokens_total", Exposition::Type::kCounter, "Tokens of answers over /v1",
         [](const Model& model) { return model.written; });
  family("wasinn_serve_first_token_duration_seconds", Exposition::Type::kHistogram,
         "From a request over /v1 to the first token of its answer", [](const Model& model) {
           core::Histogram::Sum sum;
           sum.Add(model.first);
           return sum;
         });
  return std::move(out).Take();
}

}  // namespace wasinn::serve
