#include "serve/page/operator_state.h"

#include <algorithm>
#include <utility>

#include "serve/oip/server_metadata.h"

namespace wasinn::serve {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kFresh{200};
// Limits of the answer, since names and numbers of inputs come from others' files.
constexpr size_t kMostModels = 500, kMostRoutes = 500;
constexpr size_t kMostOfModel = 16u << 10, kMostText = 1u << 20;  // bytes

std::string Dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

double ToMs(double ns) { return ns / 1e6; }

json ToJson(const Statistics::Seen& seen) {
  json told = {{"succeeded", seen.succeeded}, {"failed", seen.failed}, {"latency_ms", nullptr}};
  if (seen.latencies.count() > 0) {
    told["latency_ms"] = {{"p50", ToMs(seen.latencies.Percentile(0.5))},
                          {"p90", ToMs(seen.latencies.Percentile(0.9))},
                          {"p99", ToMs(seen.latencies.Percentile(0.99))}};
  }
  return told;
}

// The first ones, as many as there is room for.
json Shortened(json all, size_t most) {
  json first = json::array();
  size_t size = 0;
  for (json& one : all) {
    size += Dump(one).size();
    if (first.size() == most || size > kMostText / 2) break;
    first.push_back(std::move(one));
  }
  return first;
}

}  // namespace

json OperatorState::Models(const Catalog& catalog, const Tenant& tenant) const {
  json models = catalog.Overview(tenant, kMostModels);
  for (json& model : models) {
    if (Dump(model).size() > kMostOfModel) model["inputs"] = model["outputs"] = nullptr;
    const auto version = static_cast<uint32_t>(std::stoul(model["version"].get_ref<const std::string&>()));
    model["inferences"] = ToJson(sources_.statistics->Look(model["name"].get_ref<const std::string&>(), version));
  }
  return Shortened(std::move(models), kMostModels);
}

std::string OperatorState::Make(const Generation& generation, const Tenant& tenant) const {
  const size_t n_models = generation.models().size(tenant);
  json models = Models(generation.models(), tenant);
  json routes = generation.routes() == nullptr ? json::array() : generation.routes()->Overview();
  const size_t n_routes = routes.size();
  routes = Shortened(std::move(routes), kMostRoutes);
  json server = ServerMetadata();
  server.erase("extensions");
  server["generation"] = generation.number();
  server["uptime_seconds"] = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start_).count();
  return Dump({{"server", std::move(server)},
               {"load", sources_.load(generation)},
               {"models_left_out", n_models - std::min(n_models, models.size())},
               {"routes_left_out", n_routes - routes.size()},
               {"guests_models", ToJson(sources_.statistics->Look("guest", 0))},
               {"models", std::move(models)},
               {"routes", std::move(routes)}});
}

Response OperatorState::Answer(const Generation& generation, const Tenant& tenant) {
  Response response;
  response.charge = Charge(sources_.budget);
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  std::erase_if(made_, [now](const auto& one) { return now - one.second.at > kFresh; });
  const uint64_t share = tenant.share().id();
  if (!made_.contains(share)) made_.emplace(share, Made{Make(generation, tenant), now});
  const std::string& text = made_.find(share)->second.text;
  if (!response.charge.Add(text.size())) return ToResponse(NoMemory());
  response.text = text;
  return response;
}

}  // namespace wasinn::serve
