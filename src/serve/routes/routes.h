// Guests behind paths: programs by the Common Gateway Interface, and components that export wasi:http/handler or
// wasi:http/incoming-handler. Each request has a run of its own, unless its route has instances that stay.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <wasinn/wasinn.hpp>

#include "engines/engine.h"
#include "serve/file_settings.h"
#include "serve/http/http_server.h"
#include "serve/routes/guest_response.h"
#include "serve/routes/guest_runs.h"
#include "serve/routes/services.h"
#include "serve/tenants/tenant.h"
#include "serve/threads/workers.h"

namespace wasinn::serve {

struct RouteOptions {
  std::map<std::string, RouteSettings> files;  // by path: modules that are programs, and components
  GuestCode code;
};

// Thread-safe.
class Routes {
 public:
  // Compiles every file. `host` outlives it. Throws Failure.
  Routes(const Host& host, RouteOptions options);

  // Whether a request is for one of them.
  bool Has(const Header& request) const { return FindFor(request) != nullptr; }
  // The path of its route; "": it is for none.
  std::string PathFor(const Header& request) const {
    const Route* const route = FindFor(request);
    return route == nullptr ? "" : route->path;
  }
  // Whether clients of it need no key, if there are keys.
  bool IsPublic(const Header& request) const;
  // Whether "/" is one of them.
  bool HasRoot() const { return routes_.contains("/"); }
  // For each route: path, file, kind, number of requests, and of those answered with 5xx.
  nlohmann::json Overview() const;
  asio::awaitable<Response> Answer(Exchange& exchange);

  // Refuses requests that wait for too long. Call it now and then.
  void Sweep() {
    services_.Sweep();
    workers_.Sweep();
  }
  Workers::Load Threads() const { return workers_.Look(); }
  // Ends current runs, and begins no more.
  void Stop() { runs_.Stop(); }

 private:
  struct Route {
    std::string path, name;  // name: the file's own
    bool is_public = false;
    std::vector<engines::Directory> directories;
    Variables env;
    std::unique_ptr<const GuestSettings> own;  // with its policy; NULL: the asking tenant's
    bool has_limits = false;                   // `own` has its limits, too
    std::unique_ptr<engines::Program> program;
    std::string kind = "module";
    Reuse reuse;
    mutable std::atomic<uint64_t> requests{0}, failures{0};
  };
  // One request of a route. Route and tenant outlive it.
  struct Call {
    const Route& route;
    const Tenant& tenant;
    RunLimits limits;
    std::shared_ptr<Cancellation> cancellation;

    const GuestSettings& settings() const { return route.own == nullptr ? tenant.settings() : *route.own; }
  };

  void Add(const std::string& path, const RouteSettings& settings);
  const Route* Find(const std::string& path) const;
  const Route* FindFor(const Header& request) const;
  asio::awaitable<Response> AnswerBy(const Route& route, const std::string& path, Exchange& exchange);
  asio::awaitable<Response> AnswerByProgram(Call call, const std::string& path, Exchange& exchange);
  Response RunProgram(const Call& call, Variables variables, RequestBytes& body);
  asio::awaitable<Response> AnswerByHandler(Call call, Exchange& exchange);
  // The answer; if it has begun to stream, the stream has it.
  Response RunHandler(const Call& call, const engines::HttpRequest& request, Charge& charge, HandlerStream& stream);
  engines::Exit RunHandlerOnce(const Call& call, const engines::HttpExchange& exchange);
  static GuestCall ToGuestCall(const Call& call);
  void ReportBroken(const Call& call, const engines::Exit& exit, const HandlerResponse& answer);
  engines::RunOptions Surround(const Call& call, engines::RunOptions options) const;
  engines::Exit RunGuest(const Call& call, engines::RunOptions options, engines::Streams streams);
  engines::Exit Serve(const Call& call, const engines::HttpExchange& exchange);
  Response EndResponse(const Call& call, const engines::Exit& exit) const;

  const RouteOptions options_;
  std::unique_ptr<engines::Engine> engine_;
  std::map<std::string, Route> routes_;
  GuestRuns runs_;
  Services services_;
  Workers workers_;  // separate threads, so that models are computed whatever guests do; last: it uses all the others
};

}  // namespace wasinn::serve
