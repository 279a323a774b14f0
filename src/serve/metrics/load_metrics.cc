#include "serve/metrics/load_metrics.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "core/metrics/exposition.h"

namespace wasinn::serve {

using core::Exposition;

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
    family(name, "The share of places for texts that is taken, from 0 to 1", used);
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
  out.Family("wasinn_serve_requests_running", Exposition::Type::kGauge, "Requests that a thread works at");
  for (const auto& [labels, load] : all) out.Sample(labels, load.running);
  out.Family("wasinn_serve_requests_waiting", Exposition::Type::kGauge, "Requests that wait for a thread");
  for (const auto& [labels, load] : all) out.Sample(labels, load.waiting);
  AddGauge("wasinn_serve_connections", "Connections of HTTP", sources.http_connections, out);
  AddGauge("wasinn_serve_grpc_calls", "Calls of gRPC that are under way", sources.grpc_calls, out);
  AddGauge("wasinn_serve_bytes_in_flight", "Bytes that requests and responses hold", sources.budget.held(), out);
  AddGauge("wasinn_serve_max_bytes_in_flight", "Bytes that they may hold", sources.budget.most(), out);
  if (has_aliases) AddAliases(models, out);
  return std::move(out).Take();
}

}  // namespace wasinn::serve
