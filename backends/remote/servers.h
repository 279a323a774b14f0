// The servers of one model, and the objects of one wasinn host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <wasinn/backend.h>

#include "common/log.h"
#include "remote/address.h"
#include "remote/config.h"
#include "remote/exchange.h"
#include "remote/http_connection.h"

namespace wasinn::remote {

// Models on the same server share a connection. Thread-safe.
class Connections {
 public:
  std::shared_ptr<Connection> To(const std::string& endpoint, const ConnectionConfig& config);

 private:
  std::mutex mutex_;
  std::optional<HttpLoop> loop_;  // since the first HTTP server
  std::map<std::pair<std::string, ConnectionConfig>, std::weak_ptr<Connection>> connections_;
};

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

// The servers of one model. Thread-safe. Outlives its calls.
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

// Outlives its models.
class Host {
 public:
  Host(const wasinn_host_services& services, const char* config);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const wasinn_host_services& services() const { return services_; }
  const backend::Log& log() const { return log_; }
  // [backends.remote]: the same keys as models.
  const char* config() const { return config_.c_str(); }
  Connections& connections() { return connections_; }
  const wasinn_backend_info* info() const { return &info_; }

 private:
  const wasinn_host_services services_;
  const backend::Log log_;
  const std::string config_;
  const std::string version_;
  const wasinn_backend_info info_;
  Connections connections_;
};

}  // namespace wasinn::remote
