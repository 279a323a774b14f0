// The servers of one model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/log.h"
#include "remote/address.h"
#include "remote/config.h"
#include "remote/host.h"

namespace wasinn::remote {

// Chooses the server with the fewest outstanding calls, and takes turns among equals. Unhealthy servers come last: they
// get calls if no others are left, since a check may be wrong. Thread-safe.
class Balancer {
 public:
  explicit Balancer(size_t servers) : servers_(servers) {}

  // Returns a server and counts one more call for it. `tried`: servers that had this call before, which come after all
  // others; may be empty.
  size_t Take(const std::vector<bool>& tried);
  // Ends the call.
  void GiveBack(size_t server);

  // Returns whether the state changed.
  bool SetHealthy(size_t server, bool is_healthy);
  // Whether any server is healthy.
  bool HasHealthy() const;
  uint64_t outstanding(size_t server) const;
  size_t size() const { return servers_.size(); }

 private:
  struct Server {
    uint64_t outstanding = 0;
    bool is_healthy = true;
  };

  mutable std::mutex mutex_;
  std::vector<Server> servers_;
  size_t next_ = 0;  // the next turn
};

class Call;

// Thread-safe. Outlives its calls.
class Servers {
 public:
  Servers(const Address& address, const ModelConfig& config, Connections& connections, const backend::Log& log);
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;

  const Address& address() const { return address_; }
  const ModelConfig& config() const { return config_; }
  Balancer& balancer() { return balancer_; }
  size_t size() const { return connections_.size(); }
  Connection& connection(size_t server) { return *connections_[server]; }
  const std::string& endpoint(size_t server) const { return connections_[server]->endpoint(); }
  // The server's name for guests, which need not know its address: "the model's server", or which of several.
  std::string NameOf(size_t server) const;
  // A message of a server or its transport, for guests: one line without its address.
  std::string ForGuests(size_t server, const std::string& text) const;

  // From now on a single server's failures are logged, too: until then each failed load reports them.
  void SetLoaded() { is_loaded_ = true; }
  // Logs a change once: `why` is a server's text. Without memory it only changes the state.
  void SetHealthy(size_t server, bool is_healthy, const std::string& why) noexcept;
  // If another server is healthy, calls of an idempotent model on this one go there.
  void GiveUpCalls(size_t server);
  // Registers a call that can be given up, while `server` has it.
  void Enter(Call& call, size_t server);
  void Leave(Call& call);

 private:
  const Address address_;
  const ModelConfig config_;
  const backend::Log log_;
  std::vector<std::shared_ptr<Connection>> connections_;
  Balancer balancer_;
  bool is_loaded_ = false;
  std::mutex mutex_;
  std::unordered_map<Call*, size_t> calls_;  // and their servers
};

}  // namespace wasinn::remote
