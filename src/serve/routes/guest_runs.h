// Runs of guests that clients ask for: each within its tenant's limits and policy, ended where its client goes or the server ends.
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

// Settings that a guest has of its own, made of ServeOptions and of what it says beyond these; "": NULL, it has none.
using MakeGuestSettings = std::function<Outcome<std::unique_ptr<const GuestSettings>>(const std::string& toml)>;

// How guests are compiled and run, whatever asks them.
struct GuestCode {
  EngineOptions settings;
  bool metered = false;  // some tenant's guests have a limit of fuel
  bool cache = true;     // of compiled code
  bool allow_precompiled = false;
  std::vector<engines::Directory> folders;  // of all guests
  uint64_t most_output = 256u << 20;        // bytes of an answer
  Workers::Limits workers;
  MakeGuestSettings own_settings;

  engines::EngineOptions ForEngine() const;
};

// Of one that sends requests: 16 connections, and 3 of what waits for them (component/src/outgoing.rs).
constexpr int kMostFilesOfGuest = 19;
// The files of a component that has folders: as many as it may have resources (component/src/alone.rs).
constexpr int kMostFilesWithFolders = 512;

struct RunLimits {
  Limits guest;
  EngineLimits program;
};

// One of them. What it refers to outlives it.
struct GuestCall {
  const std::string& name;     // for the log: of a route, or a model
  const std::string& program;  // as the guest has it: its args[0]
  const Policy& policy;
  RunLimits limits;
  Cancellation* cancellation;  // NULL: nobody cancels it
};

// Any thread.
class GuestRuns {
 public:
  // `host` outlives it.
  explicit GuestRuns(const Host& host) : host_(host) {}

  // The tenant's, but that no run is without an end, and none without a limit of its memory, though the settings name none.
  static RunLimits LimitsFor(const GuestSettings& settings);

  // What `run` says of its end. That is logged where it is a bad one, and so is what the guest says: its output too, if `streams` have no
  // sink for that. An error: it did not begin.
  using Program = std::function<engines::Exit(const engines::RunOptions& options)>;
  Outcome<engines::Exit> Run(const GuestCall& call, engines::RunOptions options, engines::Streams streams,
                             const Program& run);

  // Logs it, within the limits of what guests say.
  void Warn(const GuestCall& call, const std::string& what) { log_.Write(WASINN_LOG_WARNING, call.name, what); }

  // Ends what runs, and begins nothing any more.
  void Stop();

 private:
  class Running;

  const Host& host_;
  GuestLog log_;
  std::mutex mutex_;  // of what follows
  std::set<Guest*> running_;
  bool is_stopped_ = false;
};

}  // namespace wasinn::serve
