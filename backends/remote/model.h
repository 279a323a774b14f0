// A model on other servers, and the checks of their health.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include <wasinn/backend.h>

#include "remote/protocol.h"
#include "remote/servers.h"
#include "remote/tensors.h"

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

// Its signature is the server's description at load time.
class Model {
 public:
  Model(Host& host, std::span<const wasinn_builder> builders, const wasinn_load_options& options);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  Host& host() const { return host_; }
  Servers& servers() const { return *servers_; }
  const Protocol& protocol() const { return *protocol_; }
  const Signature& signature() const { return *signature_; }
  const wasinn_info* info() const { return signature_->info(); }
  const char* Describe() const { return description_.c_str(); }

 private:
  Host& host_;
  std::unique_ptr<Servers> servers_;
  std::unique_ptr<Protocol> protocol_;
  std::unique_ptr<const Signature> signature_;
  std::string description_;
  std::optional<Checks> checks_;  // if there are several servers
};

}  // namespace wasinn::remote
