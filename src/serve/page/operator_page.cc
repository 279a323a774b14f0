#include "serve/page/operator_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "serve/http/http_message.h"
#include "serve/oip/rest_message.h"
#include "serve/page/page_files.h"

namespace wasinn::serve {
namespace {

using nlohmann::json;

constexpr std::string_view kFolder = "/wasinn/";

const char* TypeOf(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "text/javascript; charset=utf-8";
}

// The page loads and sends nothing elsewhere, whatever a model's name contains.
void Guard(Response& response) {
  constexpr std::pair<const char*, const char*> kHeaders[] = {
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
       "form-action 'none'; frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cache-Control", "no-store"}};
  for (const auto& [name, value] : kHeaders) response.headers.emplace_back(name, value);
}

constexpr std::chrono::milliseconds kFresh{200};
// Limits of the answer, since names and numbers of inputs come from models' files.
constexpr size_t kMaxModels = 500, kMaxRoutes = 500;
constexpr size_t kMaxOfModel = 16u << 10, kMaxText = 1u << 20;  // bytes

double ToMs(double ns) { return ns / 1e6; }

json ToJson(const Statistics::Seen& seen) {
  json shown = {{"succeeded", seen.succeeded}, {"failed", seen.failed}, {"latency_ms", nullptr}};
  if (seen.latencies.count() > 0) {
    shown["latency_ms"] = {{"p50", ToMs(seen.latencies.Percentile(0.5))},
                           {"p90", ToMs(seen.latencies.Percentile(0.9))},
                           {"p99", ToMs(seen.latencies.Percentile(0.99))}};
  }
  return shown;
}

// The first ones, as many as there is room for.
json Shortened(json all, size_t most) {
  json first = json::array();
  size_t size = 0;
  for (json& one : all) {
    size += Dump(one).size();
    if (first.size() == most || size > kMaxText / 2) break;
    first.push_back(std::move(one));
  }
  return first;
}

}  // namespace

bool OperatorPage::Has(const Header& request, bool has_root) const {
  const std::string_view path = PathAlone(AsText(request.target()));
  return path.starts_with(kFolder) || (has_root && path == "/");
}

bool OperatorPage::IsState(const Header& request) { return PathAlone(AsText(request.target())) == "/wasinn/state"; }

Response OperatorPage::Find(const Exchange& exchange) {
  const Header& request = exchange.request;
  if (!origins_.IsOwnHost(request)) {
    return ErrorResponse(http::status::forbidden,
                         "the page is not shown under this name, which may belong to another site: --allow-origin "
                         "http://NAME:PORT names it");
  }
  if (request.method() != http::verb::get && request.method() != http::verb::head) {
    return WrongMethod("GET");
  }
  const std::string_view path = PathAlone(AsText(request.target()));
  std::string_view name = path == "/" ? "" : path.substr(kFolder.size());
  if (IsState(request)) {
    const Tenant& tenant = *exchange.admission.tenant;
    return tenant.is_operator() ? AnswerState(*exchange.admission.generation, tenant) : ToResponse(ForOperators());
  }
  if (name.empty()) name = "index.html";
  const auto file = std::ranges::find(PageFiles(), name, &PageFile::name);
  if (file == PageFiles().end()) return NotFound();
  return {.content_type = TypeOf(name), .text = std::string(file->bytes)};
}

Response OperatorPage::Answer(const Exchange& exchange) {
  Response response = Find(exchange);
  Guard(response);
  return response;
}

json OperatorPage::Models(const Catalog& catalog, const Tenant& tenant) const {
  json models = catalog.Overview(tenant, kMaxModels);
  for (json& model : models) {
    if (Dump(model).size() > kMaxOfModel) model["inputs"] = model["outputs"] = nullptr;
    const auto version = static_cast<uint32_t>(std::stoul(model["version"].get_ref<const std::string&>()));
    model["inferences"] = ToJson(sources_.statistics->Look(model["name"].get_ref<const std::string&>(), version));
  }
  return Shortened(std::move(models), kMaxModels);
}

std::string OperatorPage::MakeState(const Generation& generation, const Tenant& tenant) const {
  const size_t n_models = generation.models().size(tenant);
  json models = Models(generation.models(), tenant);
  json routes = generation.routes() == nullptr ? json::array() : generation.routes()->Overview();
  const size_t n_routes = routes.size();
  routes = Shortened(std::move(routes), kMaxRoutes);
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

Response OperatorPage::AnswerState(const Generation& generation, const Tenant& tenant) {
  Response response;
  response.charge = Charge(sources_.budget);
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  std::erase_if(made_, [now](const auto& one) { return now - one.second.at > kFresh; });
  const uint64_t share = tenant.share().id();
  if (!made_.contains(share)) made_.emplace(share, Made{MakeState(generation, tenant), now});
  const std::string& text = made_.find(share)->second.text;
  if (!response.charge.Add(text.size())) return ToResponse(NoMemory());
  response.text = text;
  return response;
}

}  // namespace wasinn::serve
