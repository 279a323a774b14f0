#include "serve/metrics/request_metrics.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/metrics/exposition.h"
#include "serve/generation.h"

namespace wasinn::serve {

using core::Exposition;

namespace {

constexpr std::string_view kOther = "other";
constexpr auto kTemplates = std::to_array<std::string_view>({
    "/v2",
    "/v2/health/live",
    "/v2/health/ready",
    "/v2/models/stats",
    "/v2/models/{model}",
    "/v2/models/{model}/ready",
    "/v2/models/{model}/config",
    "/v2/models/{model}/stats",
    "/v2/models/{model}/infer",
    "/v2/models/{model}/generate",
    "/v2/models/{model}/generate_stream",
    "/v2/repository/index",
    "/v2/repository/models/{model}/load",
    "/v2/repository/models/{model}/unload",
    "/v1/chat/completions",
    "/v1/chat/completions/input_tokens",
    "/v1/completions",
    "/v1/completion",
    "/v1/responses",
    "/v1/responses/input_tokens",
    "/v1/embeddings",
    "/v1/rerank",
    "/v1/models",
    "/v1/models/{model}",
    "/v1/tokenize",
    "/v1/detokenize",
    "/v1/apply-template",
    "/metrics",
    "/wasinn/state",
});

// Removes the first word of a path, after its slash, and returns it.
std::string_view TakeWord(std::string_view& path) {
  path.remove_prefix(1);
  const std::string_view word = path.substr(0, path.find('/'));
  path.remove_prefix(word.size());
  return word;
}

bool Matches(std::string_view form, std::string_view path) {
  while (!form.empty() && !path.empty()) {
    const std::string_view expected = TakeWord(form), word = TakeWord(path);
    const bool is_model = expected == "{model}";
    if (is_model ? word.empty() : word != expected) return false;
    // A version does not count as another path.
    if (is_model && path.starts_with("/versions/")) {
      TakeWord(path);
      TakeWord(path);
    }
  }
  return form.empty() && path.empty();
}

}  // namespace

std::string_view PathTemplate(std::string_view target) {
  std::string_view path = target.substr(0, target.find('?'));
  if (path.ends_with('/')) path.remove_suffix(1);
  if (!path.starts_with('/')) return kOther;
  const auto found = std::ranges::find_if(kTemplates, [path](std::string_view form) { return Matches(form, path); });
  return found == kTemplates.end() ? kOther : *found;
}

void RequestMetrics::Add(std::string_view protocol, std::string_view path, std::string_view status, const About& about,
                         const Generation* generation) {
  const bool is_model = generation != nullptr && !about.model.empty() && generation->models().Knows(about.model);
  const Look look(protocol, path, status, is_model ? about.model : std::string_view(), about.tenant);
  const std::lock_guard lock(mutex_);
  auto found = counts_.find(look);
  if (found == counts_.end()) {
    found = counts_.emplace(Key(protocol, path, status, is_model ? about.model : "", about.tenant), 0).first;
  }
  ++found->second;
}

std::string RequestMetrics::Text() const {
  Exposition out;
  out.Family("wasinn_serve_requests_total", Exposition::Type::kCounter, "Requests that were answered");
  const std::lock_guard lock(mutex_);
  for (const auto& [key, count] : counts_) {
    const auto& [protocol, path, status, model, tenant] = key;
    out.Sample({{"protocol", protocol}, {"path", path}, {"status", status}, {"model", model}, {"tenant", tenant}},
               count);
  }
  return std::move(out).Take();
}

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

using Texts = std::vector<std::pair<TextModels::Name, Workers::Load>>;

namespace {

// Under the names that routers of language models read. A model does not report how much of its cache is in use: it has
// a part for each text that it generates together with others, so this is the share of used parts.
void AddAliases(const Texts& texts, Exposition& out) {
  const auto family = [&](std::string_view name, std::string_view help, const auto& value) {
    out.Family(name, Exposition::Type::kGauge, help);
    for (const auto& [model, load] : texts)
      out.Sample({{"model_name", model.model}, {"version", model.version}}, value(load));
  };
  const auto used = [](const Workers::Load& load) {
    return static_cast<double>(load.running) / static_cast<double>(std::max<size_t>(load.threads, 1));
  };
  family("vllm:num_requests_running", "Texts that are generated",
         [](const Workers::Load& load) { return load.running; });
  family("vllm:num_requests_waiting", "Texts that wait", [](const Workers::Load& load) { return load.waiting; });
  for (const char* const name : {"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"}) {
    family(name, "The share of places for texts in use, from 0 to 1", used);
  }
}

void AddGauge(std::string_view name, std::string_view help, uint64_t value, Exposition& out) {
  out.Family(name, Exposition::Type::kGauge, help);
  out.Sample({}, value);
}

}  // namespace

std::string LoadText(const LoadSources& sources, bool has_aliases) {
  const Texts models = sources.texts.Look();
  std::vector<std::pair<Exposition::Labels, Workers::Load>> all = {{{{"of", "models"}}, sources.server.Look()}};
  if (sources.routes != nullptr) all.push_back({{{"of", "guests"}}, sources.routes->Threads()});
  for (const auto& [name, load] : models) {
    all.push_back({{{"of", "texts"}, {"model", name.model}, {"version", name.version}}, load});
  }
  Exposition out;
  out.Family("wasinn_serve_requests_running", Exposition::Type::kGauge, "Requests that a thread handles");
  for (const auto& [labels, load] : all) out.Sample(labels, load.running);
  out.Family("wasinn_serve_requests_waiting", Exposition::Type::kGauge, "Requests that wait for a thread");
  for (const auto& [labels, load] : all) out.Sample(labels, load.waiting);
  AddGauge("wasinn_serve_connections", "Connections of HTTP", sources.http_connections, out);
  AddGauge("wasinn_serve_grpc_calls", "Current gRPC calls", sources.grpc_calls, out);
  AddGauge("wasinn_serve_bytes_in_flight", "Bytes that requests and responses hold", sources.budget.held(), out);
  AddGauge("wasinn_serve_max_bytes_in_flight", "Bytes that they may hold", sources.budget.most(), out);
  if (has_aliases) AddAliases(models, out);
  return std::move(out).Take();
}

}  // namespace wasinn::serve
