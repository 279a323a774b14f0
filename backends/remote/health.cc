#include "remote/health.h"

#include <algorithm>
#include <new>
#include <vector>

namespace wasinn::remote {

namespace {

Request RequestOf(const Protocol& protocol) {
  Request request = protocol.AskReady();
  request.is_check = true;
  return request;
}

}  // namespace

Checks::Checks(Servers& servers, const Protocol& protocol)
    : servers_(servers), protocol_(protocol), request_(RequestOf(protocol)), checks_(servers.size()), thread_([this] {
        Run();
      }) {}

Checks::~Checks() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    changed_.notify_all();
  }
  thread_.join();
  std::vector<std::shared_ptr<Exchange>> exchanges;
  {
    const std::lock_guard lock(mutex_);
    for (const Check& check : checks_) exchanges.push_back(check.exchange);
  }
  for (const auto& exchange : exchanges) {
    if (exchange != nullptr) exchange->Cancel();
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return running_ == 0; });
}

void Checks::Run() {
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    lock.unlock();
    try {
      Begin();
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): retried next time
    }
    lock.lock();
    changed_.wait_for(lock, servers_.config().health_interval, [this] { return is_ending_; });
  }
}

// The transport may call back on this thread, so no lock is held when it begins.
void Checks::Begin() {
  for (size_t i = 0; i < checks_.size(); ++i) {
    Check& check = checks_[i];
    const auto deadline = std::chrono::system_clock::now() + servers_.config().health_timeout;
    const auto exchange = servers_.connection(i).NewExchange(request_, servers_.config().headers, deadline);
    {
      const std::lock_guard lock(mutex_);
      if (is_ending_ || check.exchange != nullptr) continue;
      check.exchange = exchange;
      ++running_;
    }
    try {
      exchange->Start([this, i](const Reply& reply) { End(i, reply); });
    } catch (...) {  // out of memory: the check did not begin
      Forget(i);
      throw;
    }
  }
}

void Checks::Forget(size_t server) {
  const std::lock_guard lock(mutex_);
  checks_[server].exchange.reset();  // destroyed before the servers, whose channel it holds
  --running_;
  changed_.notify_all();
}

void Checks::End(size_t server, const Reply& reply) {
  Check& check = checks_[server];
  int late = 0;
  bool is_ending = false;
  {
    const std::lock_guard lock(mutex_);
    check.late = reply.status.error_code() == grpc::DEADLINE_EXCEEDED ? std::min(check.late + 1, kLate) : 0;
    late = check.late;
    is_ending = is_ending_;
  }
  try {
    if (!is_ending) Judge(server, reply, late);
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the next check reports it
  }
  Forget(server);
}

void Checks::Judge(size_t server, const Reply& reply, int late) {
  const grpc::Status& status = reply.status;
  if (status.ok()) return SetHealth(server, protocol_.IsReady(reply), "the model is not ready there");
  if (status.error_code() == grpc::DEADLINE_EXCEEDED && late < kLate) return;
  // A server without that call, or that refuses it, does answer.
  const bool answers = status.error_code() == grpc::UNIMPLEMENTED || status.error_code() == grpc::PERMISSION_DENIED ||
                       status.error_code() == grpc::UNAUTHENTICATED;
  SetHealth(server, answers, status.error_message());
}

void Checks::SetHealth(size_t server, bool is_healthy, const std::string& why) {
  servers_.SetHealthy(server, is_healthy, why);
  if (!is_healthy) servers_.GiveUpCalls(server);
}

}  // namespace wasinn::remote
