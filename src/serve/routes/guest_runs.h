// Runs of guests for clients, within their tenants' limits. A run ends if its client disconnects or the server ends.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <wasinn/wasinn.hpp>

#include "engines/engine.h"
#include "serve/oip/inference.h"
#include "serve/tenants/memory_budget.h"
#include "serve/tenants/tenant.h"
#include "serve/threads/cancellation.h"
#include "serve/threads/workers.h"

namespace wasinn::serve {

// Keeps all of it, if there is room.
class KeptOutput final : public engines::Sink {
 public:
  KeptOutput(std::shared_ptr<MemoryBudget> budget, uint64_t most) : charge_(std::move(budget)), most_(most) {}

  bool Write(std::string_view bytes) noexcept override;

  enum class State { kWhole, kTooLarge, kNoMemory };
  struct Taken {
    State state = State::kWhole;
    std::string text;
    Charge charge;
  };
  // Later output is lost.
  Taken Take();

 private:
  bool Refuse(State why) {
    taken_.state = why;
    return false;
  }

  std::mutex mutex_;  // guards the members below
  Charge charge_;
  const uint64_t most_;
  Taken taken_;
  bool is_taken_ = false;
};

// Keeps its first lines, for the log.
class FirstLines final : public engines::Sink {
 public:
  bool Write(std::string_view bytes) noexcept override;
  // Those since the last call.
  std::vector<std::string> Take();

 private:
  std::mutex mutex_;  // guards the members below
  std::vector<std::string> lines_;
  std::string last_;  // without an end yet
  bool is_full_ = false;
};

// Guests' output goes to the log, but no more than one can read: clients decide how often guests run. Thread-safe.
class GuestLog {
 public:
  void Write(wasinn_log_level level, const std::string& guest, const std::string& line);

 private:
  std::mutex mutex_;  // guards the members below
  std::chrono::steady_clock::time_point second_;
  size_t n_written_ = 0, n_left_out_ = 0;  // in this second
};

// Makes a guest's own settings from ServeOptions and its own text; "": NULL, it has none.
using MakeGuestSettings = std::function<std::unique_ptr<const GuestSettings>(const std::string& toml)>;

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
constexpr int kMaxFilesOfGuest = 19;
// The files of a component that has folders: as many as its limit of resources (component/src/alone.rs).
constexpr int kMaxFilesWithFolders = 512;

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
  wasinn_guest* on_behalf_of;  // a tenant's; NULL: none
  Cancellation* cancellation;  // NULL: never cancelled
  size_t memories = 1;         // of the program
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
  engines::Exit Run(const GuestCall& call, engines::RunOptions options, engines::Streams streams, const Program& run);

  class Held;

  // Logs it, within the limits of guests' output.
  void Warn(const GuestCall& call, const std::string& what) { log_.Write(WASINN_LOG_WARNING, call.name, what); }

  // Ends current runs, and begins no more.
  void Stop();
  // The most memories that guests have which run or wait.
  size_t memories() const {
    const std::lock_guard lock(mutex_);
    return n_memories_;
  }

 private:
  const Host& host_;
  GuestLog log_;
  mutable std::mutex mutex_;  // guards the members below
  std::set<Guest*> running_;
  size_t n_memories_ = 0;  // of these
  bool is_stopped_ = false;
};

// A guest, which the server's end reaches, and what it says.
class GuestRuns::Held {
 public:
  // Throws Failure.
  Held(GuestRuns& runs, const GuestCall& call);
  ~Held();
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  Guest& guest() { return guest_; }
  // The options of its runs. Without a sink for its output this is logged, too.
  engines::RunOptions Complete(const GuestCall& call, engines::RunOptions options, engines::Streams streams) const;
  // Logs what it has said since the last time, and a bad end.
  void Report(const GuestCall& call, const engines::Exit& exit);

 private:
  GuestRuns& runs_;
  const size_t n_memories_;
  Guest guest_;
  const std::shared_ptr<FirstLines> said_ = std::make_shared<FirstLines>();
};

}  // namespace wasinn::serve
