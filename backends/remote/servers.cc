#include "remote/servers.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <new>
#include <tuple>
#include <utility>

#include "common/library.h"
#include "remote/exchange.h"

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

Call::Call(Servers& servers, Request request, Deadline deadline, bool is_idempotent)
    : servers_(servers),
      request_(std::move(request)),
      deadline_(deadline),
      tried_(servers.size()),
      retries_(servers.size(), is_idempotent, servers.config().retries) {}

void Call::Begin(Done done) {
  done_ = std::move(done);
  Start();
}

Answered Call::Wait() {
  for (;;) {
    const std::shared_ptr<Exchange> exchange = Try();
    Reply reply;
    try {
      reply = exchange->Wait();
    } catch (...) {  // out of memory: the exchange did not begin
      Drop();
      throw;
    }
    if (std::optional<Answered> answered = After(std::move(reply))) return std::move(*answered);
  }
}

// An earlier cancel is not lost: the exchange keeps it.
std::shared_ptr<Exchange> Call::Try() {
  const size_t server = servers_.balancer().Take(tried_);
  std::shared_ptr<Exchange> exchange;
  try {
    exchange = servers_.connection(server).NewExchange(request_, servers_.config().headers, deadline_);
    servers_.Enter(*this, server);
  } catch (...) {
    servers_.balancer().GiveBack(server);
    throw;
  }
  bool is_cancelled = false;
  {
    const std::lock_guard lock(mutex_);
    exchange_ = exchange;
    server_ = server;
    is_given_up_ = false;
    is_cancelled = is_cancelled_;
  }
  if (is_cancelled) exchange->Cancel();
  return exchange;
}

void Call::Drop() noexcept {
  servers_.Leave(*this);
  std::shared_ptr<Exchange> exchange;  // destroyed outside of the lock
  const std::lock_guard lock(mutex_);
  exchange.swap(exchange_);
  servers_.balancer().GiveBack(server_);
}

// The transport may call back on this thread, so no lock is held when it begins.
void Call::Start() {
  Exchange& exchange = *Try();  // this call keeps it until it ends
  try {
    exchange.Start([self = shared_from_this()](Reply reply) { self->End(std::move(reply)); });
  } catch (...) {  // out of memory: the exchange did not begin
    Drop();
    throw;
  }
}

void Call::End(Reply reply) {
  std::optional<Answered> answered;
  try {
    answered = After(std::move(reply));
    if (!answered) return Start();
  } catch (const std::bad_alloc&) {  // the transport would swallow it; a text this short needs no memory
    answered.emplace(Answered{{.status = {grpc::RESOURCE_EXHAUSTED, "no memory"}, .message = {}}, server_});
  }
  std::exchange(done_, nullptr)(std::move(*answered));
}

Ending Call::EndingOf(const Reply& reply) const {
  const grpc::StatusCode code = reply.status.error_code();
  if (code == grpc::CANCELLED && is_given_up_ && !is_cancelled_) return Ending::kGivenUp;
  if (code != grpc::UNAVAILABLE || is_cancelled_) return Ending::kAnswered;
  return reply.was_sent ? Ending::kLost : Ending::kNeverSent;
}

std::optional<Answered> Call::After(Reply reply) {
  servers_.Leave(*this);
  Ending ending;
  bool again = false;
  size_t server = 0;
  {
    std::shared_ptr<Exchange> exchange;  // destroyed outside of the lock
    const std::lock_guard lock(mutex_);
    ending = EndingOf(reply);
    again = retries_.After(ending);
    server = server_;
    exchange.swap(exchange_);
  }
  servers_.balancer().GiveBack(server);
  // A server's answer to one guest says nothing about other guests' calls.
  const bool is_loss = (ending == Ending::kNeverSent || ending == Ending::kLost) && !reply.was_answer;
  if (is_loss) servers_.SetHealthy(server, false, reply.status.error_message());
  // A single server has no health checks, which would report that it is back.
  if (servers_.size() == 1 && reply.status.ok()) servers_.SetHealthy(server, true, "");
  tried_[server] = true;
  if (again) return std::nullopt;
  if (ending == Ending::kGivenUp) {
    reply.status = {grpc::UNAVAILABLE, "the server did not answer its health checks, nor this call"};
  }
  return Answered{std::move(reply), server};
}

void Call::Cancel() {
  std::shared_ptr<Exchange> exchange;
  {
    const std::lock_guard lock(mutex_);
    is_cancelled_ = true;
    exchange = exchange_;
  }
  if (exchange != nullptr) exchange->Cancel();
}

void Call::GiveUp(size_t server) {
  std::shared_ptr<Exchange> exchange;
  {
    const std::lock_guard lock(mutex_);
    if (server_ != server || exchange_ == nullptr || !retries_.has_more()) return;
    is_given_up_ = true;
    exchange = exchange_;
  }
  exchange->Cancel();
}

bool Retries::After(Ending ending) {
  switch (ending) {
    case Ending::kAnswered:
      return false;
    case Ending::kNeverSent:
      return ++unsent_ < servers_;
    case Ending::kLost:
    case Ending::kGivenUp:
      if (again_ == 0) return false;
      --again_;
      return true;
  }
  return false;
}

}  // namespace wasinn::remote
