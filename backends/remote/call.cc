#include "remote/call.h"

#include <future>
#include <new>
#include <utility>

#include "remote/errors.h"

namespace wasinn::remote {

namespace {

// Whether a connection had the call. Until then gRPC names the peer as the channel was made: "dns:///…".
bool WasSent(const grpc::ClientContext& context) {
  const std::string peer = context.peer();
  return peer.starts_with("ipv4:") || peer.starts_with("ipv6:") || peer.starts_with("unix:");
}

}  // namespace

Call::Call(Servers& servers, std::string method, grpc::ByteBuffer request, Deadline deadline, bool is_idempotent)
    : servers_(servers),
      method_("/inference.GRPCInferenceService/" + std::move(method)),
      request_(std::move(request)),
      deadline_(deadline),
      tried_(servers.size()),
      retries_(servers.size(), is_idempotent, servers.config().retries) {}

void Call::Begin(Done done) {
  done_ = std::move(done);
  Try();
}

// gRPC may call back on this thread, so nothing is locked when it begins. A cancel that comes before is not lost: the
// context keeps it.
void Call::Try() {
  const auto context = std::make_shared<grpc::ClientContext>();
  if (deadline_) context->set_deadline(*deadline_);
  servers_.Prepare(*context);
  const size_t server = servers_.balancer().Take(tried_);
  bool is_cancelled = false;
  {
    const std::lock_guard lock(mutex_);
    context_ = context;
    answer_.Clear();
    server_ = server;
    is_given_up_ = false;
    is_cancelled = is_cancelled_;
  }
  if (is_cancelled) context->TryCancel();
  servers_.Enter(*this, server);
  servers_.stub(server).UnaryCall(context.get(), method_, {}, &request_, &answer_,
                                  [self = shared_from_this()](const grpc::Status& status) { self->End(status); });
}

Ending Call::EndingOf(const grpc::Status& status) const {
  if (status.error_code() == grpc::CANCELLED && is_given_up_ && !is_cancelled_) return Ending::kGivenUp;
  if (status.error_code() != grpc::UNAVAILABLE || is_cancelled_) return Ending::kAnswered;
  return WasSent(*context_) ? Ending::kLost : Ending::kNeverSent;
}

void Call::End(const grpc::Status& status) {
  servers_.Leave(*this);
  Ending ending;
  bool again = false;
  size_t server = 0;
  grpc::ByteBuffer answer;
  std::shared_ptr<grpc::ClientContext> context;
  {
    const std::lock_guard lock(mutex_);
    ending = EndingOf(status);
    again = retries_.After(ending);
    server = server_;
    answer.Swap(&answer_);
    context.swap(context_);
  }
  // It holds the channel. Were it the last to, gRPC would wait here for this thread of its own, and abort: who waits for
  // `done` has the channel longer.
  context.reset();
  servers_.balancer().GiveBack(server);
  if (ending == Ending::kNeverSent || ending == Ending::kLost) {
    servers_.SetHealthy(server, false, Quoted(status.error_message()));
  }
  tried_[server] = true;
  if (again) {
    try {
      return Try();
    } catch (const std::bad_alloc&) {  // gRPC would swallow it, and nobody be told
      ending = Ending::kAnswered;
    }
  }
  Answered answered{status, std::move(answer), server};
  if (ending == Ending::kGivenUp) {
    answered.status = {grpc::UNAVAILABLE, "the server did not answer its health checks, nor this call"};
  }
  std::exchange(done_, nullptr)(std::move(answered));
}

void Call::Cancel() {
  std::shared_ptr<grpc::ClientContext> context;
  {
    const std::lock_guard lock(mutex_);
    is_cancelled_ = true;
    context = context_;
  }
  if (context != nullptr) context->TryCancel();
}

void Call::GiveUp(size_t server) {
  std::shared_ptr<grpc::ClientContext> context;
  {
    const std::lock_guard lock(mutex_);
    if (server_ != server || context_ == nullptr || !retries_.has_more()) return;
    is_given_up_ = true;
    context = context_;
  }
  context->TryCancel();
}

Answered Wait(Call& call) {
  // Shared: who fulfils it may be the last to let go.
  const auto promise = std::make_shared<std::promise<Answered>>();
  std::future<Answered> answered = promise->get_future();
  call.Begin([promise](Answered one) { promise->set_value(std::move(one)); });
  return answered.get();
}

}  // namespace wasinn::remote
