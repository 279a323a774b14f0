// One call to whichever server of a model has time for it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "remote/exchange.h"
#include "remote/retries.h"
#include "remote/servers.h"

namespace wasinn::remote {

struct Answered {
  Reply reply;
  size_t server = 0;  // who answered, or was asked last
};

// Exchanges, until one of them counts. It waits on no thread but that of who calls Wait. Cancel comes from any thread.
class Call : public std::enable_shared_from_this<Call> {
 public:
  using Done = std::function<void(Answered)>;

  // `is_idempotent`: it may be made again though it may have run.
  Call(Servers& servers, Request request, Deadline deadline, bool is_idempotent);

  // Once. `done` comes once, perhaps before this returns.
  void Begin(Done done);
  // The same on this thread.
  Answered Wait();
  void Cancel();
  // If this server has it, and it may be made again: another one may answer.
  void GiveUp(size_t server);

 private:
  std::shared_ptr<Exchange> Try();
  void Start();
  void End(Reply reply);
  // Nothing: it is tried again.
  std::optional<Answered> After(Reply reply);
  Ending EndingOf(const Reply& reply) const;
  // A try that has not begun.
  void Drop() noexcept;

  Servers& servers_;
  const Request request_;
  const Deadline deadline_;
  Done done_;
  std::vector<bool> tried_;

  std::mutex mutex_;  // of what follows
  Retries retries_;
  std::shared_ptr<Exchange> exchange_;
  size_t server_ = 0;
  bool is_cancelled_ = false, is_given_up_ = false;
};

}  // namespace wasinn::remote
