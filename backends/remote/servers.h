// The servers of one model, calls on them, and the objects of one wasinn host.
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
#include <functional>

#include "common/log.h"
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
