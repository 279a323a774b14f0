#include "serve/http/front.h"

#include <utility>

#include "serve/http/content_encoding.h"
#include "serve/http/http_message.h"
#include "serve/openai/openai.h"
#include "serve/server.h"

namespace wasinn::serve {
namespace {

// Whether it is a load balancer's health check.
bool IsHealth(const Header& header) {
  return header.target() == "/v2/health/live" || header.target() == "/v2/health/ready";
}

Response ToResponse(const Refusal& refusal, bool has_key) {
  if (!refusal.needs_key) return ToResponse(refusal.failure);
  const std::string other = has_key ? "" : std::string(", or ") + kApiKeyHeader + ": KEY";  // only over HTTP
  Response response = ErrorResponse(http::status::unauthorized, refusal.failure.message + other);
  response.headers = {{"WWW-Authenticate", "Bearer"}};
  return response;
}

// In the form of `Authorization`, even for a key in X-Api-Key; "": there is none.
std::string AuthorizationOf(const Header& header) {
  // If there are several, a proxy before this server may have checked another one.
  const auto only = [&header](auto name) -> std::string {
    return header.count(name) == 1 ? std::string(header[name]) : "";
  };
  if (header.count(http::field::authorization) > 0) return only(http::field::authorization);
  const std::string key = only(kApiKeyHeader);
  return key.empty() ? "" : "Bearer " + key;
}

bool HasRoute(const Header& header, const Generation& generation) {
  const Routes* const routes = generation.routes();
  return routes != nullptr && routes->Has(header);
}

}  // namespace

Front::Front(const ServeOptions& options, Parts parts, OperatorPage::Sources sources)
    : options_(options),
      parts_(std::move(parts)),
      origins_(options.allowed_origins),
      page_(origins_, std::move(sources)) {}

bool Front::HasPage(const Header& header, const Generation& generation) const {
  if (!options_.has_page) return false;
  const Routes* const routes = generation.routes();
  return page_.Has(header, routes == nullptr || !routes->HasRoot());
}

bool Front::IsPublic(const Header& header, const Generation& generation) const {
  if (IsHealth(header) || origins_.IsAllowedPreflight(header)) return true;
  if (HasPage(header, generation)) return !OperatorPage::IsState(header);
  const Routes* const routes = generation.routes();
  return routes != nullptr && routes->IsPublic(header);
}

void Front::Rename(Header& header, const Generation& generation) {
  if (HasRoute(header, generation)) return;
  // vLLM's and llama.cpp's server's names.
  if (header.target() == "/health" || header.target() == "/ping") header.target("/v2/health/ready");
  if (const auto under_v1 = openai::UnderV1(AsText(header.target()))) header.target(*under_v1);
}

std::expected<Admission, Response> Front::Admit(Header& header) const try {
  const std::string target = CanonicalTarget(AsText(header.target()));
  // A proxy before this server may have checked the other one, and origins are compared with it.
  if (header.count(http::field::host) > 1) ThrowInvalid("two headers Host");
  header.target(target);
  std::shared_ptr<Generation> generation = parts_.gate.current();
  Rename(header, *generation);
  if (!generation->tenants().need_keys() || IsPublic(header, *generation)) {
    return Gate::AdmitWithoutKey(std::move(generation));
  }
  const std::string authorization = AuthorizationOf(header);
  auto admitted = Gate::Admit(std::move(generation), authorization);
  if (!admitted) return std::unexpected(ToResponse(admitted.error(), !authorization.empty()));
  return std::move(*admitted);
} catch (const Failure& failure) {
  return std::unexpected(ToResponse(failure));
}

uint64_t Front::MaxBody(const Header& header, const Admission& admission) const {
  const Generation& generation = *admission.generation;
  const bool is_small = IsHealth(header) || origins_.IsAllowedPreflight(header) || HasPage(header, generation);
  if (is_small) return kMaxSmall;
  if (HasRoute(header, generation)) return options_.max_body_bytes;
  return openai::OpenAi::Has(header) ? parts_.rest.MaxJson() : parts_.rest.MaxBody(header);
}

asio::awaitable<Response> Front::Answer(Exchange& exchange) {
  if (!Origins::IsOfPage(exchange.request)) return AnswerAny(exchange);
  return origins_.Guard(exchange, [this](Exchange& guarded) { return AnswerAny(guarded); });
}

asio::awaitable<Response> Front::AnswerAny(Exchange& exchange) {
  const Generation& generation = *exchange.admission.generation;
  if (HasPage(exchange.request, generation)) return AnswerPage(exchange);
  if (HasRoute(exchange.request, generation)) return generation.routes()->Answer(exchange);
  if (HasMetrics(exchange.request, generation)) return AnswerMetrics(exchange);
  return exchange.request.count(http::field::content_encoding) > 0 ? AnswerCompressed(exchange)
                                                                   : AnswerModels(exchange);
}

asio::awaitable<Response> Front::AnswerModels(Exchange& exchange) {
  return openai::OpenAi::Has(exchange.request) ? parts_.openai.Answer(exchange) : parts_.rest.Answer(exchange);
}

asio::awaitable<Response> Front::AnswerCompressed(Exchange& exchange) {
  const uint64_t most = MaxBody(exchange.request, exchange.admission);
  if (auto wrong = co_await InflateRequest(exchange, most, parts_.workers)) co_return std::move(*wrong);
  co_return co_await AnswerModels(exchange);
}

void Front::ShapeError(const Header& header, Response& response) {
  if (openai::OpenAi::Has(header)) openai::Shape(response);
}

bool Front::HasMetrics(const Header& header, const Generation& generation) const {
  return options_.has_http_metrics && PathAlone(AsText(header.target())) == "/metrics" && !HasRoute(header, generation);
}

asio::awaitable<Response> Front::AnswerMetrics(Exchange& exchange) {
  if (!exchange.admission.tenant->is_operator()) co_return ToResponse(ForOperators());
  co_return parts_.metrics(*exchange.admission.generation);
}

void Front::Count(const Header& header, const About& about, const Generation* generation,
                  std::optional<http::status> status) {
  const Routes* const routes = generation == nullptr ? nullptr : generation->routes();
  const std::string route = routes == nullptr ? "" : routes->PathFor(header);
  const std::string_view path = route.empty() ? PathTemplate(AsText(header.target())) : route;
  constexpr int kClientGone = 499;  // as in nginx
  const std::string code = std::to_string(status ? static_cast<int>(*status) : kClientGone);
  parts_.requests.Add("http", path, code, about, generation);
}

asio::awaitable<Response> Front::AnswerPage(Exchange& exchange) { co_return page_.Answer(exchange); }

}  // namespace wasinn::serve
