#include "serve/load_metrics.h"

#include <utility>
#include <vector>

#include "core/metrics/exposition.h"

namespace wasinn::serve {

using core::Exposition;

std::string LoadText(const Workers& server, const Routes* routes, const TextModels& texts) {
  const std::vector<std::pair<TextModels::Name, Workers::Load>> models = texts.Look();
  std::vector<std::pair<Exposition::Labels, Workers::Load>> all = {{{{"of", "models"}}, server.Look()}};
  if (routes != nullptr) all.push_back({{{"of", "guests"}}, routes->Threads()});
  for (const auto& [name, load] : models) {
    all.push_back({{{"of", "texts"}, {"model", name.model}, {"version", name.version}}, load});
  }
  Exposition out;
  out.Family("wasinn_serve_requests_running", Exposition::Type::kGauge, "Requests that a thread works at");
  for (const auto& [labels, load] : all) out.Sample(labels, load.running);
  out.Family("wasinn_serve_requests_waiting", Exposition::Type::kGauge, "Requests that wait for a thread");
  for (const auto& [labels, load] : all) out.Sample(labels, load.waiting);
  return std::move(out).Take();
}

}  // namespace wasinn::serve
