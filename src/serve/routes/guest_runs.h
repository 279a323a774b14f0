// Runs of guests for clients, within their tenants' limits. A run ends if its client disconnects or the server ends.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <wasinn/wasinn.hpp>

#include "engines/engine.h"
#include "serve/oip/inference.h"
#include "serve/routes/guest_streams.h"
#include "serve/tenants/tenant.h"
#include "serve/threads/cancellation.h"
#include "serve/threads/workers.h"

namespace wasinn::serve {

// Makes a guest's own settings from ServeOptions and its own text; "": NULL, it has none.
using MakeGuestSettings = std::function<Outcome<std::unique_ptr<const GuestSettings>>(const std::string& toml)>;

// How guests are compiled and run, for all their users.
struct GuestCode {
  EngineOptions settings;
  bool metered = false;  // a tenant's guests have a limit of fuel
  bool cache = true;     // of compiled code
  bool allow_precompiled = false;
  std::vector<engines::Directory> folders;  // of all guests
  uint64_t most_output = 256u << 20;        // bytes of an answer
  Workers::Limits workers;
  MakeGuestSettings own_settings;

  engines::EngineOptions ForEngine() const;
};

// For a guest that sends requests: 16 connections, and 3 for waiting (component/src/outgoing.rs).
constexpr int kMostFilesOfGuest = 19;
// The files of a component that has folders: as many as its limit of resources (component/src/alone.rs).
constexpr int kMostFilesWithFolders = 512;

struct RunLimits {
  Limits guest;
  EngineLimits program;
};

// One call. The objects behind its references outlive it.
struct GuestCall {
  const std::string& name;     // for the log: a route's, or a model's
  const std::string& program;  // the guest's args[0]
  const Policy& policy;
  RunLimits limits;
  Cancellation* cancellation;  // NULL: never cancelled
};

// Thread-safe.
class GuestRuns {
 public:
  // `host` outlives it.
  explicit GuestRuns(const Host& host) : host_(host) {}

  // The tenant's limits, but every run has a deadline and a limit of memory, even if the settings have none.
  static RunLimits LimitsFor(const GuestSettings& settings);

  // `run` returns its end. A bad end is logged, and so is the guest's error output; its output too, if `streams` have
  // no sink for that. An error: it did not begin.
  using Program = std::function<engines::Exit(const engines::RunOptions& options)>;
  Outcome<engines::Exit> Run(const GuestCall& call, engines::RunOptions options, engines::Streams streams,
                             const Program& run);

  // Logs it, within the limits of guests' output.
  void Warn(const GuestCall& call, const std::string& what) { log_.Write(WASINN_LOG_WARNING, call.name, what); }

  // Ends current runs, and begins no more.
  void Stop();

 private:
  class Running;

  const Host& host_;
  GuestLog log_;
  std::mutex mutex_;  // guards the members below
  std::set<Guest*> running_;
  bool is_stopped_ = false;
};

}  // namespace wasinn::serve
