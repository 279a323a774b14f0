// Guests behind paths: programs, of which each request has a run of its own, by the Common Gateway Interface.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <wasinn/wasinn.hpp>

#include "engines/engine.h"
#include "serve/cgi_request.h"
#include "serve/guest_streams.h"
#include "serve/http_server.h"
#include "serve/memory_budget.h"
#include "serve/workers.h"

namespace wasinn::serve {

struct RouteOptions {
  std::map<std::string, std::string> files;  // by path: modules or components that are programs
  bool cache = true;                         // of compiled code
  bool allow_precompiled = false;
  uint64_t most_output = 256u << 20;  // bytes of an answer
  Workers::Limits workers;
};

// Any thread.
class Routes {
 public:
  // Compiles every file. `host` outlives it.
  static Outcome<std::unique_ptr<Routes>> Load(const Host& host, RouteOptions options,
                                               std::shared_ptr<MemoryBudget> budget);

  // Whether a request is for one of them.
  bool Has(const Header& request) const;
  asio::awaitable<Response> Answer(Asked& asked);

  // Refuses who waits for too long. To be called now and then.
  void Sweep() { workers_.Sweep(); }
  // Ends what runs, and begins nothing any more.
  void Stop();

 private:
  struct Route {
    std::string path, name;  // name: the file's own
    std::unique_ptr<engines::Program> program;
  };
  class Run;

  Routes(const Host& host, RouteOptions options, std::shared_ptr<MemoryBudget> budget);
  Outcome<void> Add(const std::string& path, const std::string& file);
  const Route* Find(const std::string& path) const;
  Response RunNow(const Route& route, Variables variables, RequestBytes& body, Cancellation* cancellation);
  Response ToResponse(const Route& route, const engines::Exit& exit, std::string output, Charge charge);

  const Host& host_;
  const RouteOptions options_;
  const std::shared_ptr<MemoryBudget> budget_;
  Limits limits_;
  std::unique_ptr<engines::Engine> engine_;
  std::map<std::string, Route> routes_;
  GuestLog log_;
  std::mutex mutex_;  // of what follows
  std::set<Guest*> running_;
  bool is_stopped_ = false;
  Workers workers_;  // of their own, so that models are computed whatever guests do; last: it uses all the others
};

}  // namespace wasinn::serve
