#include "remote/servers.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <new>
#include <tuple>

#include "common/library.h"
#include "remote/call.h"
#include "remote/errors.h"

namespace wasinn::remote {

Servers::Servers(const Address& address, const ModelConfig& config, Connections& connections, const backend::Log& log)
    : address_(address), config_(config), log_(log), balancer_(address.endpoints.size()) {
  for (const std::string& endpoint : address.endpoints) {
    connections_.push_back(connections.To(endpoint, config.connection));
  }
}

std::string Servers::NameOf(size_t server) const {
  constexpr const char* kName = "the model's server";
  return size() == 1 ? kName : fmt::format("{} ({} of {})", kName, server + 1, size());
}

std::string Servers::ForGuests(size_t server, const std::string& text) const {
  return fmt::format("{}: {}", NameOf(server), WithoutAddress(Quoted(text), endpoint(server)));
}

void Servers::SetHealthy(size_t server, bool is_healthy, const std::string& why) noexcept {
  if (size() == 1 && !is_loaded_) return;
  if (!balancer_.SetHealthy(server, is_healthy)) return;
  try {
    const std::string what = is_healthy
                                 ? "serves again"
                                 : fmt::format("{}: {}", size() == 1 ? "fails" : "gets no calls for now", Quoted(why));
    log_.Write(WASINN_LOG_WARNING, fmt::format("model '{}': server {} {}", address_.model, endpoint(server), what));
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): not logged
  }
}

void Servers::GiveUpCalls(size_t server) {
  if (!balancer_.HasHealthy()) return;
  std::vector<std::shared_ptr<Call>> calls;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [call, its_server] : calls_) {
      if (its_server == server) calls.push_back(call->weak_from_this().lock());
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

Host::Host(const wasinn_host_services& services, const char* config)
    : services_(services),
      log_(services),
      config_(config == nullptr ? "{}" : config),
      version_(grpc::Version()),
      info_{.struct_size = sizeof(wasinn_backend_info),
            .framework = "gRPC",
            .version = version_.c_str(),
            .library = "",
            .devices = "servers"} {
  backend::SetForFramework("GRPC_VERBOSITY", "NONE");                  // gRPC logs to stderr
  ModelConfig::Parse(config_.c_str(), "{}", Transport::kGrpc, false);  // report errors now
}

std::shared_ptr<Connection> Connections::To(const std::string& endpoint, const ConnectionConfig& config) {
  const std::lock_guard lock(mutex_);
  std::erase_if(connections_, [](const auto& one) { return one.second.expired(); });
  std::weak_ptr<Connection>& known = connections_[{endpoint, config}];
  std::shared_ptr<Connection> connection = known.lock();
  if (connection == nullptr) {
    if (config.transport == Transport::kGrpc) {
      connection = MakeGrpcConnection(endpoint, config);
    } else {
      if (!loop_) loop_.emplace();
      connection = MakeHttpConnection(*loop_, endpoint, config);
    }
    known = connection;
  }
  return connection;
}

}  // namespace wasinn::remote
