// Chooses the server for the next call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

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

}  // namespace wasinn::remote
