#include "serve/routes/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "serve/http/http_message.h"
#include "serve/metrics/trace.h"

namespace wasinn::serve {
namespace {

Response BadGateway(const std::string& path, const std::string& why) {
  return ErrorResponse(http::status::bad_gateway, fmt::format("the guest of {}: {}", path, why));
}

bool IsWithin(const std::string& path, const std::string& folder) {
  return path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

// The route's own variables, which no client may set.
void SetOwn(const Variables& own, Variables& all) {
  std::erase_if(all, [&](const auto& one) {
    return std::ranges::any_of(own, [&](const auto& variable) { return variable.first == one.first; });
  });
  all.insert(all.end(), own.begin(), own.end());
}

// The error in a route's path; "": none.
std::string WhyNot(const std::string& path) {
  if (!path.starts_with('/')) return "does not begin with /";
  if (path != "/" && path.ends_with('/')) return "ends with /";
  if (IsWithin(path, "/v2")) return "is the models'";
  if (IsWithin(path, "/wasinn")) return "is the server's";
  Header as_request;
  as_request.target(path);
  if (!Try([&] { return CanonicalTarget(path); }) || PathOf(as_request) != path) return "is not a path as in requests";
  return "";
}

}  // namespace

Routes::Routes(const Host& host, RouteOptions options)
    : options_(std::move(options)),
      runs_(host),
      services_(runs_, workers_, options_.code.workers.threads, options_.code.settings.pool_instances),
      workers_(options_.code.workers) {
  auto engine = engines::NewWasmtimeEngine(options_.code.ForEngine());
  if (!engine) throw Failure{WASINN_ERROR_RUNTIME, engine.error()};
  engine_ = std::move(*engine);
  for (const auto& [path, route] : options_.files) Add(path, route);
}

void Routes::Add(const std::string& path, const RouteSettings& settings) {
  if (const std::string why = WhyNot(path); !why.empty()) ThrowInvalid("the route '{}' {}", path, why);
  for (const engines::Directory& directory : settings.directories) {
    std::error_code ignored;
    if (std::filesystem::is_directory(directory.host, ignored)) continue;
    ThrowInvalid("the route '{}': there is no folder '{}'", path, directory.host);
  }
  auto own = Try([&] { return options_.code.own_settings(settings.policy); });
  if (!own) ThrowInvalid("the route '{}': {}", path, own.error().message);
  auto program = engine_->Load(settings.file);
  if (!program) ThrowInvalid("the route '{}': {}", path, program.error());
  if (settings.reuse.Stays() && !(*program)->MayStay()) {
    ThrowInvalid("the route '{}': reuse.requests is for components that export wasi:http/handler@0.3", path);
  }
  Route& route = routes_[path];
  route.path = path;
  route.name = std::filesystem::path(settings.file).filename().string();
  route.is_public = settings.is_public;
  route.directories = settings.directories;
  route.env.assign(settings.env.begin(), settings.env.end());
  route.own = std::move(*own);
  route.has_limits = settings.has_limits;
  route.reuse = settings.reuse;
  route.program = std::move(*program);
  if (route.program->AnswersHttp()) route.kind = "component";
}

// The longest route that equals the path or contains it.
const Routes::Route* Routes::Find(const std::string& path) const {
  for (std::string one = path; one.size() > 1; one.resize(one.rfind('/'))) {
    if (const auto found = routes_.find(one); found != routes_.end()) return &found->second;
  }
  const auto root = routes_.find("/");
  const bool is_servers = IsWithin(path, "/v2") || IsWithin(path, "/v1") || IsWithin(path, "/wasinn");
  return root == routes_.end() || is_servers ? nullptr : &root->second;
}

const Routes::Route* Routes::FindFor(const Header& request) const {
  if (request.target().starts_with("/v2/")) return nullptr;  // an inference, whose path Rest reads
  return Find(PathOf(request));
}

bool Routes::IsPublic(const Header& request) const {
  const Route* const route = FindFor(request);
  return route != nullptr && route->is_public;
}

GuestCall Routes::ToGuestCall(const Call& call) {
  return {call.route.path,     call.route.name,         call.settings().policy(),      call.limits,
          call.tenant.guest(), call.cancellation.get(), call.route.program->memories()};
}

engines::RunOptions Routes::Surround(const Call& call, engines::RunOptions options) const {
  options.directories = call.route.directories;
  SetOwn(call.route.env, options.env);
  return options;
}

engines::Exit Routes::RunGuest(const Call& call, engines::RunOptions options, engines::Streams streams) {
  return runs_.Run(ToGuestCall(call), Surround(call, std::move(options)), std::move(streams),
                   [&](const engines::RunOptions& whole) {
                     services_.MakeRoom();
                     return call.route.program->Run(whole);
                   });
}

engines::Exit Routes::Serve(const Call& call, const engines::HttpExchange& exchange) {
  const GuestCall guest = ToGuestCall(call);
  const ServiceCall service{*call.route.program, call.tenant, call.route.reuse, guest,
                            call.settings().outbound_hosts()};
  return services_.Answer(service, Surround(call, {}), exchange);
}

// For a run that did not end by itself.
Response Routes::EndResponse(const Call& call, const engines::Exit& exit) const {
  using Kind = engines::Exit::Kind;
  switch (exit.kind) {
    case Kind::kTrapped:
      return BadGateway(call.route.path, "it ended in a trap");
    case Kind::kInterrupted:
      return ErrorResponse(
          http::status::gateway_timeout,
          fmt::format("the guest of {} was not done within {} ms", call.route.path, call.limits.guest.run_timeout_ms));
    case Kind::kExited:
    case Kind::kFailed:
      return ErrorResponse(http::status::internal_server_error,
                           fmt::format("the guest of {} could not run", call.route.path));
  }
  std::unreachable();
}

Response Routes::RunProgram(const Call& call, Variables variables, RequestBytes& body) {
  if (!body.charge().Add(body.size())) return ToResponse(NoMemory());  // the guest's copy
  engines::RunOptions options;
  options.env = std::move(variables);
  const auto output = std::make_shared<KeptOutput>(call.tenant.budget(), options_.code.most_output);
  const engines::Exit exit = RunGuest(call, std::move(options), {body.view(), output, nullptr});
  KeptOutput::Taken taken = output->Take();
  if (taken.state == KeptOutput::State::kNoMemory) return ToResponse(NoMemory());
  if (taken.state == KeptOutput::State::kTooLarge) {
    return BadGateway(call.route.path, fmt::format("it wrote more than {} bytes", options_.code.most_output));
  }
  if (exit.kind != engines::Exit::Kind::kExited) return EndResponse(call, exit);
  try {
    Response response = ReadCgiResponse(std::move(taken.text));
    response.charge = std::move(taken.charge);
    return response;
  } catch (const Failure& failure) {
    return BadGateway(call.route.path, failure.message);
  }
}

engines::Exit Routes::RunHandlerOnce(const Call& call, const engines::HttpExchange& exchange) {
  engines::RunOptions options;
  const settings::OutboundHosts& outbound = call.settings().outbound_hosts();
  const engines::HttpPermission may_send = [&outbound](std::string_view scheme, std::string_view authority) {
    return outbound.Allow(scheme, authority);
  };
  options.http = exchange;
  options.may_send = outbound.empty() ? nullptr : &may_send;
  return RunGuest(call, std::move(options), {});
}

Response Routes::RunHandler(const Call& call, const engines::HttpRequest& request, Charge& charge,
                            HandlerStream& stream) {
  if (!charge.Add(request.body.size())) return ToResponse(NoMemory());  // the guest's copy
  HandlerResponse answer(call.tenant.budget(), options_.code.most_output, request.method == "HEAD", stream);
  const engines::HttpExchange exchange = {&request, &answer};
  const engines::Exit exit = call.route.reuse.Stays() ? Serve(call, exchange) : RunHandlerOnce(call, exchange);
  if (answer.is_stream()) {
    if (!answer.is_whole() && !call.cancellation->is_cancelled()) ReportBroken(call, exit, answer);
    return {};
  }
  if (std::optional<Response> response = answer.Take()) return std::move(*response);
  return exit.kind == engines::Exit::Kind::kExited ? answer.WhyNone(call.route.path) : EndResponse(call, exit);
}

// Its client only sees the broken answer: the status has been sent.
void Routes::ReportBroken(const Call& call, const engines::Exit& exit, const HandlerResponse& answer) {
  call.route.failures.fetch_add(1, std::memory_order_relaxed);
  const bool is_logged = exit.kind != engines::Exit::Kind::kExited;
  if (!is_logged) runs_.Warn(ToGuestCall(call), "broke off its answer: " + answer.WhyNone(call.route.path).error);
}

asio::awaitable<Response> Routes::AnswerByProgram(Call call, const std::string& path, Exchange& exchange) {
  RequestBytes& body = exchange.request.body();
  Variables variables = CgiVariables(exchange.request, call.route.path, path, body.size(), exchange.ends());
  const Share& share = call.tenant.share();
  const Place place = PlaceOf(call.route.path);
  const std::shared_ptr<Cancellation> cancellation = call.cancellation;
  std::function<Response()> run = [this, call = std::move(call), &body, variables = std::move(variables)]() mutable {
    return RunProgram(call, std::move(variables), body);
  };
  co_return co_await workers_.Do(std::move(run), share, cancellation.get(), place);
}

asio::awaitable<Response> Routes::AnswerByHandler(Call call, Exchange& exchange) {
  const Tenant& tenant = call.tenant;
  const std::shared_ptr<Cancellation> cancellation = call.cancellation;
  const Ends ends = exchange.ends();
  const Place place = PlaceOf(call.route.path);
  // The guest reads it while its answer is sent.
  const auto body = std::make_shared<RequestBytes>(std::exchange(exchange.request.body(), RequestBytes()));
  auto run = [this, call = std::move(call), body, &header = exchange.request.base(),
              authority = AuthorityOf(exchange.request, ends), is_secure = ends.is_secure](HandlerStream& stream) {
    const engines::HttpRequest request = ToHttpRequest(header, body->view(), authority, is_secure);
    return RunHandler(call, request, body->charge(), stream);
  };
  auto stream =
      std::make_unique<HandlerStream>(std::move(run), tenant.budget(), options_.code.most_output, cancellation);
  Response response = co_await stream->Begin(workers_, tenant.share(), place);
  if (stream->is_stream()) response.source = std::move(stream);
  co_return response;
}

nlohmann::json Routes::Overview() const {
  nlohmann::json overview = nlohmann::json::array();
  for (const auto& [path, route] : routes_) {
    overview.push_back({{"path", path},
                        {"file", route.name},
                        {"kind", route.kind},
                        {"requests", route.requests.load(std::memory_order_relaxed)},
                        {"failures", route.failures.load(std::memory_order_relaxed)}});
  }
  return overview;
}

asio::awaitable<Response> Routes::Answer(Exchange& exchange) {
  const std::string path = PathOf(exchange.request);
  const Route* const route = Find(path);
  if (route == nullptr) co_return NotFound();
  route->requests.fetch_add(1, std::memory_order_relaxed);
  Response response;
  try {
    response = co_await AnswerBy(*route, path, exchange);
  } catch (const Failure& failure) {
    response = ToResponse(failure);
  }
  if (http::to_status_class(response.status) == http::status_class::server_error) {
    route->failures.fetch_add(1, std::memory_order_relaxed);
  }
  co_return response;
}

asio::awaitable<Response> Routes::AnswerBy(const Route& route, const std::string& path, Exchange& exchange) {
  if (exchange.request.method() == http::verb::connect) {
    co_return ErrorResponse(http::status::method_not_allowed, "this is not a proxy");
  }
  if (exchange.request.count("Service-Worker") > 0) {  // it would be between this server's pages and the server
    co_return ErrorResponse(http::status::forbidden, "guests give no service workers");
  }
  PassOn(exchange.about.trace, exchange.request);
  // A tenant's key is for the server.
  if (!exchange.admission.tenant->share().is_alone()) {
    exchange.request.erase(http::field::authorization);
    exchange.request.erase(kApiKeyHeader);
  }
  const Tenant& tenant = *exchange.admission.tenant;
  const std::shared_ptr<Cancellation> cancellation = exchange.watch();
  Call call = {route, tenant, GuestRuns::LimitsFor(route.has_limits ? *route.own : tenant.settings()), cancellation};
  if (route.program->AnswersHttp()) co_return co_await AnswerByHandler(std::move(call), exchange);
  co_return co_await AnswerByProgram(std::move(call), path, exchange);
}

}  // namespace wasinn::serve
