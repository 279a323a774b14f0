// Health checks of the servers of models.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "remote/protocol.h"
#include "remote/servers.h"

namespace wasinn::remote {

// Asks each server of one model repeatedly whether the model is ready.
class Checks {
 public:
  Checks(Servers& servers, const Protocol& protocol);
  // Cancels running checks, and waits for them.
  ~Checks();
  Checks(const Checks&) = delete;
  Checks& operator=(const Checks&) = delete;

 private:
  // A busy server may be late once.
  static constexpr int kLate = 2;
  struct Check {
    std::shared_ptr<Exchange> exchange;  // NULL: no check is running
    int late = 0;                        // late checks in succession
  };

  void Run();
  // Begins a check of each server whose last check has ended.
  void Begin();
  void End(size_t server, const Reply& reply);
  void Forget(size_t server);
  void Judge(size_t server, const Reply& reply, int late);
  void SetHealth(size_t server, bool is_healthy, const std::string& why);

  Servers& servers_;
  const Protocol& protocol_;
  const Request request_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Check> checks_;
  size_t running_ = 0;
  bool is_ending_ = false;
  std::thread thread_;  // last: it uses all other members
};

}  // namespace wasinn::remote
