#include "serve/routes.h"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <utility>

#include "cli/host_flags.h"
#include "cli/log.h"
#include "serve/cgi_request.h"
#include "serve/cgi_response.h"
#include "serve/guest_streams.h"

namespace wasinn::serve {
namespace {

// No run is without an end, and without a limit of its memory, though the settings name none.
constexpr uint32_t kTimeoutMs = 30'000;
constexpr uint64_t kMemory = 256u << 20;

Limits LimitsOfRoutes(const Host& host) {
  Limits limits = host.limits();
  if (limits.run_timeout_ms == 0) limits.run_timeout_ms = kTimeoutMs;
  if (limits.max_memory_bytes == std::numeric_limits<uint64_t>::max()) limits.max_memory_bytes = kMemory;
  return limits;
}

Response BadGateway(const std::string& path, const std::string& why) {
  return ErrorResponse(http::status::bad_gateway, fmt::format("the guest of {}: {}", path, why));
}

bool IsOrLiesIn(const std::string& path, const std::string& folder) {
  return path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

// What a path of a route may not be; "": nothing.
std::string WhyNot(const std::string& path) {
  if (!path.starts_with('/')) return "does not begin with /";
  if (path != "/" && path.ends_with('/')) return "ends with /";
  if (IsOrLiesIn(path, "/v2")) return "is the models'";
  Header as_request;
  as_request.target(path);
  const auto read = PathOf(as_request);
  if (!read || *read != path) return "is no path as requests have it";
  return "";
}

}  // namespace

// A guest that the server's end reaches.
class Routes::Run {
 public:
  Run(Routes& routes, Guest guest) : routes_(routes), guest_(std::move(guest)) {
    const std::lock_guard lock(routes_.mutex_);
    routes_.running_.insert(&guest_);
    if (routes_.is_stopped_) guest_.Stop();
  }
  ~Run() {
    const std::lock_guard lock(routes_.mutex_);
    routes_.running_.erase(&guest_);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  engines::Exit Go(const Route& route, engines::RunOptions options, Cancellation* cancellation) {
    const Cancellation::Stop stop(cancellation, [this] { guest_.Stop(); });
    options.guest = guest_.get();
    options.args = {route.name};
    options.max_memory_bytes = routes_.limits_.max_memory_bytes;
    options.max_table_elements = routes_.limits_.max_table_elements;
    options.max_fuel = routes_.limits_.max_fuel;
    return route.program->Run(options);
  }

 private:
  Routes& routes_;
  Guest guest_;
};

Routes::Routes(const Host& host, RouteOptions options, std::shared_ptr<MemoryBudget> budget)
    : host_(host),
      options_(std::move(options)),
      budget_(std::move(budget)),
      limits_(LimitsOfRoutes(host)),
      workers_(options_.workers) {}

Outcome<std::unique_ptr<Routes>> Routes::Load(const Host& host, RouteOptions options,
                                              std::shared_ptr<MemoryBudget> budget) {
  std::unique_ptr<Routes> routes(new Routes(host, std::move(options), std::move(budget)));
  const EngineOptions settings = host.engine_options();
  auto engine =
      engines::NewWasmtimeEngine({.cache = routes->options_.cache,
                                  .allow_precompiled = routes->options_.allow_precompiled || settings.allow_precompiled,
                                  .pool = cli::PoolOf(settings),
                                  .interruptible = true,
                                  .metered = routes->limits_.max_fuel > 0,
                                  .served = true,
                                  .warn = [](const std::string& what) { cli::Log(WASINN_LOG_WARNING, what.c_str()); }});
  if (!engine) return std::unexpected(Failure{WASINN_RUNTIME_ERROR, engine.error()});
  routes->engine_ = std::move(*engine);
  for (const auto& [path, file] : routes->options_.files) {
    if (auto added = routes->Add(path, file); !added) return std::unexpected(std::move(added.error()));
  }
  return routes;
}

Outcome<void> Routes::Add(const std::string& path, const std::string& file) {
  if (const std::string why = WhyNot(path); !why.empty()) {
    return std::unexpected(Invalid(fmt::format("the route '{}' {}", path, why)));
  }
  auto program = engine_->Load(file);
  if (!program) return std::unexpected(Invalid(fmt::format("the route '{}': {}", path, program.error())));
  routes_[path] = {path, std::filesystem::path(file).filename().string(), std::move(*program)};
  return {};
}

// The longest one that the path is, or lies in.
const Routes::Route* Routes::Find(const std::string& path) const {
  for (std::string one = path; one.size() > 1; one.resize(one.rfind('/'))) {
    if (const auto found = routes_.find(one); found != routes_.end()) return &found->second;
  }
  const auto root = routes_.find("/");
  return root == routes_.end() || IsOrLiesIn(path, "/v2") ? nullptr : &root->second;
}

bool Routes::Has(const Header& request) const {
  if (request.target().starts_with("/v2/")) return false;  // an inference, whose path Rest reads
  const auto path = PathOf(request);
  return path && Find(*path) != nullptr;
}

Response Routes::ToResponse(const Route& route, const engines::Exit& exit, std::string output, Charge charge) {
  using Kind = engines::Exit::Kind;
  if (exit.kind != Kind::kExited) {
    log_.Write(WASINN_LOG_WARNING, route.path,
               exit.message.substr(0, exit.message.find('\n')));  // a backtrace may follow
  }
  switch (exit.kind) {
    case Kind::kExited: {
      Outcome<Response> response = ReadCgiResponse(std::move(output));
      if (!response) return BadGateway(route.path, response.error().message);
      response->charge = std::move(charge);
      return std::move(*response);
    }
    case Kind::kTrapped:
      return BadGateway(route.path, "it ended in a trap");
    case Kind::kInterrupted:
      return ErrorResponse(http::status::gateway_timeout, fmt::format("the guest of {} was not done within {} ms",
                                                                      route.path, limits_.run_timeout_ms));
    case Kind::kFailed:
      return ErrorResponse(http::status::internal_server_error,
                           fmt::format("the guest of {} could not run", route.path));
  }
  std::unreachable();
}

Response Routes::RunNow(const Route& route, Variables variables, RequestBytes& body, Cancellation* cancellation) {
  if (!body.charge().Add(body.size())) return serve::ToResponse(NoMemory());  // the guest's copy
  GuestOptions guest_options;
  guest_options.name = route.path;
  guest_options.limits = &limits_;
  Result<Guest> guest = Guest::Create(host_, guest_options);
  if (!guest) return serve::ToResponse(Failure{guest.status().code(), guest.status().message()});
  engines::RunOptions options;
  options.env = std::move(variables);
  const auto output = std::make_shared<KeptOutput>(budget_, options_.most_output);
  const auto errors = std::make_shared<FirstLines>();
  options.streams = {body.view(), output, errors};
  const engines::Exit exit = Run(*this, std::move(*guest)).Go(route, std::move(options), cancellation);
  for (const std::string& line : errors->Take()) log_.Write(WASINN_LOG_INFO, route.path, line);
  KeptOutput::Taken taken = output->Take();
  if (taken.state == KeptOutput::State::kNoMemory) return serve::ToResponse(NoMemory());
  if (taken.state == KeptOutput::State::kTooLarge) {
    return BadGateway(route.path, fmt::format("it wrote more than {} bytes", options_.most_output));
  }
  return ToResponse(route, exit, std::move(taken.text), std::move(taken.charge));
}

asio::awaitable<Response> Routes::Answer(Asked& asked) {
  const auto path = PathOf(asked.request);
  const Route* const route = path ? Find(*path) : nullptr;
  if (route == nullptr) co_return ErrorResponse(http::status::not_found, "there is nothing of this name");
  if (asked.request.method() == http::verb::connect) {
    co_return ErrorResponse(http::status::method_not_allowed, "this is no proxy");
  }
  RequestBytes& body = asked.request.body();
  Outcome<Variables> variables = CgiVariables(asked.request, route->path, *path, body.size(), asked.ends());
  if (!variables) co_return serve::ToResponse(variables.error());
  const std::shared_ptr<Cancellation> cancellation = asked.watch();
  std::function<Response()> run = [&, cancellation] {
    return RunNow(*route, std::move(*variables), body, cancellation.get());
  };
  Outcome<Response> done = co_await workers_.Do(std::move(run), cancellation.get());
  if (!done) co_return serve::ToResponse(done.error());
  co_return std::move(*done);
}

void Routes::Stop() {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  for (Guest* const guest : running_) guest->Stop();
}

}  // namespace wasinn::serve
