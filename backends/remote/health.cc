#include "remote/health.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include <inference.pb.h>
#include "remote/errors.h"
#include "remote/request.h"

namespace wasinn::remote {

namespace {

grpc::ByteBuffer ReadyRequest(const Address& address) {
  inference::ModelReadyRequest request;
  request.set_name(address.model);
  request.set_version(address.version);
  return ToBuffer(request);
}

}  // namespace

Checks::Checks(Servers& servers)
    : servers_(servers), request_(ReadyRequest(servers.address())), checks_(servers.size()) {}

Checks::~Checks() {
  std::vector<std::shared_ptr<grpc::ClientContext>> contexts;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    for (const Check& check : checks_) contexts.push_back(check.context);
  }
  for (const auto& context : contexts) {
    if (context != nullptr) context->TryCancel();
  }
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return running_ == 0; });
}

// gRPC may call back on this thread, so nothing is locked when it begins.
void Checks::Begin() {
  for (size_t i = 0; i < checks_.size(); ++i) {
    Check& check = checks_[i];
    const auto context = std::make_shared<grpc::ClientContext>();
    context->set_deadline(std::chrono::system_clock::now() + servers_.config().health_timeout);
    servers_.Prepare(*context);
    {
      const std::lock_guard lock(mutex_);
      if (is_ending_ || check.context != nullptr) continue;
      check.context = context;
      check.answer.Clear();
      ++running_;
    }
    servers_.stub(i).UnaryCall(context.get(), "/inference.GRPCInferenceService/ModelReady", {}, &request_,
                               &check.answer, [this, i](const grpc::Status& status) { End(i, status); });
  }
}

void Checks::End(size_t server, const grpc::Status& status) {
  Check& check = checks_[server];  // nobody else touches its answer while it runs
  inference::ModelReadyResponse response;
  const bool is_ready = status.ok() && ParseMessage(check.answer, &response) && response.ready();
  int late = 0;
  bool is_ending = false;
  {
    const std::lock_guard lock(mutex_);
    check.late = status.error_code() == grpc::DEADLINE_EXCEEDED ? std::min(check.late + 1, kLate) : 0;
    late = check.late;
    is_ending = is_ending_;
  }
  if (!is_ending) Judge(server, status, is_ready, late);
  const std::lock_guard lock(mutex_);
  check.context.reset();
  --running_;
  ended_.notify_all();
}

void Checks::Judge(size_t server, const grpc::Status& status, bool is_ready, int late) {
  if (status.ok()) return servers_.SetHealthy(server, is_ready, "the model is not ready there");
  if (status.error_code() == grpc::DEADLINE_EXCEEDED && late < kLate) return;
  // A server without that call, or that lets nobody ask, is one that answers.
  const bool answers = status.error_code() == grpc::UNIMPLEMENTED || status.error_code() == grpc::PERMISSION_DENIED ||
                       status.error_code() == grpc::UNAUTHENTICATED;
  servers_.SetHealthy(server, answers, Quoted(status.error_message()));
}

HealthThread::~HealthThread() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void HealthThread::Add(Checks& checks) {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
  due_.emplace(Clock::now(), &checks);
  changed_.notify_all();
}

void HealthThread::Remove(Checks& checks) {
  const std::lock_guard lock(mutex_);
  std::erase_if(due_, [&](const auto& one) { return one.second == &checks; });
}

void HealthThread::Run() {
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    if (due_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto [when, checks] = *due_.begin();
    if (Clock::now() < when) {
      changed_.wait_until(lock, when);
      continue;
    }
    due_.erase(due_.begin());
    due_.emplace(Clock::now() + checks->interval(), checks);
    try {
      checks->Begin();                 // under the lock, so that nobody removes it meanwhile; it waits for nothing
    } catch (const std::bad_alloc&) {  // the next time
    }
  }
}

}  // namespace wasinn::remote
