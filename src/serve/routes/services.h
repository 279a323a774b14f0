// Instances that stay for several requests. Each belongs to one route and one tenant, and nobody else gets it.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <mutex>

#include "engines/engine.h"
#include "serve/file_settings.h"
#include "serve/routes/guest_runs.h"
#include "serve/tenants/tenant.h"
#include "serve/threads/workers.h"

namespace wasinn::serve {

// One request for a route with reuse. The objects behind its references outlive it.
struct ServiceCall {
  const engines::Program& program;
  const Tenant& tenant;
  const Reuse& reuse;
  const GuestCall& guest;
  const settings::OutboundHosts& outbound;  // outlives the instances
};

// Thread-safe.
class Services {
 public:
  // `runs` outlives it; `workers` may end before, and be made later. `most`: instances that may wait for requests.
  // `pool`: places for memories; 0: no limit.
  Services(GuestRuns& runs, Workers& workers, size_t most, size_t pool)
      : runs_(runs), workers_(workers), most_(most), pool_(pool) {}

  // `options`: of a new instance.
  engines::Exit Answer(const ServiceCall& call, const engines::RunOptions& options, engines::HttpExchange exchange);
  // Makes room in the pool for a guest that is about to run, if instances that wait take it.
  void MakeRoom();
  // Ends instances that have waited too long.
  void Sweep();

 private:
  using Clock = std::chrono::steady_clock;
  struct One;
  struct Use;
  using OnePtr = std::shared_ptr<One>;
  using Some = std::list<OnePtr>;

  OnePtr Find(const ServiceCall& call);
  engines::Result<OnePtr> Start(const ServiceCall& call, const engines::RunOptions& options);
  // A client has gone. Returns true.
  bool Leave(One& one);
  void Give(OnePtr one, bool has_left) noexcept;
  // The one that has waited longest, if any waits.
  Some TakeOldest() noexcept;
  // On a worker: that may take long, and must not hold up other tenants or the server's own threads.
  void End(Some over) noexcept;

  GuestRuns& runs_;
  Workers& workers_;
  const size_t most_, pool_;
  const Share share_;  // of those that end instances
  std::mutex mutex_;   // guards the members below
  Some all_;
};

}  // namespace wasinn::serve
