// Asks the servers of models whether they are well.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "remote/protocol.h"
#include "remote/servers.h"

namespace wasinn::remote {

// Of the servers of one model: each is asked whether the model is ready, again and again.
class Checks {
 public:
  Checks(Servers& servers, const Protocol& protocol);
  // Cancels those that run, and waits for them.
  ~Checks();
  Checks(const Checks&) = delete;
  Checks& operator=(const Checks&) = delete;

  // Begins one at each server that has answered the last.
  void Begin();
  std::chrono::milliseconds interval() const { return servers_.config().health_interval; }

 private:
  // A busy server may be late once.
  static constexpr int kLate = 2;
  struct Check {
    std::shared_ptr<Exchange> exchange;  // NULL: none runs
    int late = 0;                        // in succession
  };

  void End(size_t server, const Reply& reply);
  void Forget(size_t server);
  void Judge(size_t server, const Reply& reply, int late);
  void Say(size_t server, bool is_healthy, const std::string& why);

  Servers& servers_;
  const Protocol& protocol_;
  const Request request_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::deque<Check> checks_;
  size_t running_ = 0;
  bool is_ending_ = false;
};

// The thread of a host that begins checks when it is time; there is none before a model has several servers.
class HealthThread {
 public:
  HealthThread() = default;
  ~HealthThread();
  HealthThread(const HealthThread&) = delete;
  HealthThread& operator=(const HealthThread&) = delete;

  void Add(Checks& checks);
  void Remove(Checks& checks);

 private:
  using Clock = std::chrono::steady_clock;
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::pair<Clock::time_point, Checks*>> due_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace wasinn::remote
