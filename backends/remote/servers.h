// The servers of one model.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/log.h"
#include "remote/address.h"
#include "remote/balancer.h"
#include "remote/config.h"
#include "remote/connections.h"

namespace wasinn::remote {

class Call;

// Any thread. Outlives its calls.
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
  // What guests are told of it, who need not know where it is: "the model's server", and which of several.
  std::string NameOf(size_t server) const;
  // Of a server, or of the transport to it, for guests: a line without its address.
  std::string ForGuests(size_t server, const std::string& text) const;

  // From now on the log tells of one alone, too: until then who loads says why it cannot, each time.
  void SetLoaded() { is_loaded_ = true; }
  // Says it once in the log: `why` is a server's text. Without memory for its words it is so nevertheless.
  void SetHealthy(size_t server, bool is_healthy, const std::string& why) noexcept;
  // If there is a well one: calls of an idempotent model that this one has go elsewhere.
  void GiveUpCalls(size_t server);
  // A call that can be given up, while `server` has it.
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
  std::unordered_map<Call*, size_t> calls_;  // and whose they are
};

}  // namespace wasinn::remote
