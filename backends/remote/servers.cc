#include "remote/servers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <new>
#include <utility>

#include "remote/call.h"
#include "remote/errors.h"

namespace wasinn::remote {

Servers::Servers(const Address& address, const ModelConfig& config, Connections& connections, const backend::Log& log)
    : address_(address), config_(config), log_(log), balancer_(address.endpoints.size()) {
  for (const std::string& endpoint : address.endpoints) {
    connections_.push_back(connections.To(endpoint, config.connection));
  }
}

std::string Servers::ToString() const { return fmt::format("{}", fmt::join(address_.endpoints, ", ")); }

void Servers::SetHealthy(size_t server, bool is_healthy, const std::string& why) noexcept {
  if (size() == 1) return;  // there is no other
  if (!balancer_.SetHealthy(server, is_healthy)) return;
  try {
    log_.Write(WASINN_LOG_WARNING,
               is_healthy ? fmt::format("model '{}': server {} serves again", address_.model, endpoint(server))
                          : fmt::format("model '{}': server {} gets no calls for now: {}", address_.model,
                                        endpoint(server), Quoted(why)));
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): nobody reads of it
  }
}

void Servers::GiveUpCalls(size_t server) {
  if (!balancer_.HasHealthy()) return;
  std::vector<std::shared_ptr<Call>> calls;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [call, whose] : calls_) {
      if (whose == server) calls.push_back(call->weak_from_this().lock());
    }
  }
  for (const std::shared_ptr<Call>& call : calls) {
    if (call != nullptr) call->GiveUp(server);
  }
}

void Servers::Enter(Call& call, size_t server) {
  if (!config_.is_idempotent || size() == 1) return;
  const std::lock_guard lock(mutex_);
  calls_[&call] = server;
}

void Servers::Leave(Call& call) {
  if (!config_.is_idempotent || size() == 1) return;
  const std::lock_guard lock(mutex_);
  calls_.erase(&call);
}

}  // namespace wasinn::remote
