#include "remote/call.h"

#include <new>
#include <utility>

namespace wasinn::remote {

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
