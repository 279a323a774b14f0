// Which of several servers gets the next call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace wasinn::remote {

// The server with the fewest calls under way, in turns where several have as few. Those that are ill come last: they get
// calls where no other is left, since a check may be wrong. Any thread.
class Balancer {
 public:
  explicit Balancer(size_t servers) : servers_(servers) {}

  // Counts one more call for the server that it returns. `tried`: those that this call had already, which come after
  // all others; may be empty.
  size_t Take(const std::vector<bool>& tried);
  // The call has ended.
  void GiveBack(size_t server);

  // False if it was so before.
  bool SetHealthy(size_t server, bool is_healthy);
  // Whether any is.
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
  size_t next_ = 0;  // where the turn begins
};

}  // namespace wasinn::remote
