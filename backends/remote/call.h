// One call, on the server with the fewest calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "remote/exchange.h"
#include "remote/servers.h"

namespace wasinn::remote {

// When a failed call is repeated.
enum class Ending {
  kAnswered,   // with a result or an error of the server
  kNeverSent,  // no connection had the call, so nothing can have run
  kLost,       // the connection was lost, or the server reported itself unavailable: the model may have run
  kGivenUp,    // by this host: the server no longer answers its checks
};

// Decides what follows each try of one call.
class Retries {
 public:
  // `again`: how often a call that may have run is repeated, if the model is configured as idempotent.
  Retries(size_t servers, bool is_idempotent, uint32_t again) : servers_(servers), again_(is_idempotent ? again : 0) {}

  // Counts the try; returns whether to try again. A call that was never sent is tried once on each server.
  bool After(Ending ending);
  // Whether a call that may have run would be repeated.
  bool has_more() const { return again_ > 0; }

 private:
  const size_t servers_;
  uint32_t again_;
  size_t unsent_ = 0;
};

struct Answered {
  Reply reply;
  size_t server = 0;  // the server that answered, or was tried last
};

// Makes exchanges until one of them counts. Blocks only the thread that calls Wait. Cancel is thread-safe.
class Call : public std::enable_shared_from_this<Call> {
 public:
  using Done = std::function<void(Answered)>;

  // `is_idempotent`: the call may be repeated even if it may have run.
  Call(Servers& servers, Request request, Deadline deadline, bool is_idempotent);

  // Called once. `done` is called once, perhaps before this returns.
  void Begin(Done done);
  // Begins, and waits on this thread.
  Answered Wait();
  void Cancel();
  // If `server` has the call, and it may be repeated, tries another server.
  void GiveUp(size_t server);

 private:
  std::shared_ptr<Exchange> Try();
  void Start();
  void End(Reply reply);
  // Empty: it is tried again.
  std::optional<Answered> After(Reply reply);
  Ending EndingOf(const Reply& reply) const;
  // Forgets a try that has not begun.
  void Drop() noexcept;

  Servers& servers_;
  const Request request_;
  const Deadline deadline_;
  Done done_;
  std::vector<bool> tried_;

  std::mutex mutex_;  // guards the members below
  Retries retries_;
  std::shared_ptr<Exchange> exchange_;
  size_t server_ = 0;
  bool is_cancelled_ = false, is_given_up_ = false;
};

}  // namespace wasinn::remote
