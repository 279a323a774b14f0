#include "remote/balancer.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace wasinn::remote {

size_t Balancer::Take(const std::vector<bool>& tried) {
  const std::lock_guard lock(mutex_);
  const auto rank = [&](size_t i) {
    return std::tuple(i < tried.size() && tried[i], !servers_[i].is_healthy, servers_[i].outstanding);
  };
  size_t best = next_;
  for (size_t i = 1; i < servers_.size(); ++i) {
    const size_t one = (next_ + i) % servers_.size();
    if (rank(one) < rank(best)) best = one;
  }
  next_ = (best + 1) % servers_.size();
  ++servers_[best].outstanding;
  return best;
}

void Balancer::GiveBack(size_t server) {
  const std::lock_guard lock(mutex_);
  --servers_[server].outstanding;
}

bool Balancer::SetHealthy(size_t server, bool is_healthy) {
  const std::lock_guard lock(mutex_);
  return std::exchange(servers_[server].is_healthy, is_healthy) != is_healthy;
}

bool Balancer::HasHealthy() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(servers_, &Server::is_healthy);
}

uint64_t Balancer::outstanding(size_t server) const {
  const std::lock_guard lock(mutex_);
  return servers_[server].outstanding;
}

}  // namespace wasinn::remote
