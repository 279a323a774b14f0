// The part of a guest that computes between its calls.
#include <chrono>
#include <utility>

#include "base/scope_exit.h"
#include "core/host/guest_task.h"

namespace wasinn::core {

Status Guest::BeginCompute(uint32_t context) {
  RETURN_IF_ERROR(host_->StartComputers());
  TaskOwner made = Task::New(*this, Task::Kind::kStaged);
  Task& task = *made;
  Use& use = task.use_.emplace(*this, context);
  if (!use) return use.TakeError();
  use.Keep();
  task.MakeRun(AsyncCompute::Kind::kCompute);
  if (!task.presence_.emplace(Call(*this, kACompute))) return Error(WASINN_ERROR_RUNTIME, "the guest is closed");
  {
    const std::lock_guard lock(begun_mutex_);
    computes_begun_.emplace(context, std::move(made));
    task.goes_on_ = true;
  }
  task.BeginRun(false);  // another thread may free it before this returns
  return Status();
}

Result<Guest::Task*> Guest::FindCompute(uint32_t context) const {
  const auto found = computes_begun_.find(context);
  if (found != computes_begun_.end()) return found->second.get();
  if (!contexts_.Get(context)) return std::unexpected(contexts_.NoSuch(context));
  return Fail(WASINN_ERROR_INVALID_ARGUMENT, "no compute has begun on context {:#x}", context);
}

Status Guest::PollCompute(uint32_t context, const GuestMemory& memory) {
  TaskOwner ended;  // its context is this call's until it is freed
  {
    const std::lock_guard lock(begun_mutex_);
    ASSIGN_OR_RETURN(const Task* const task, FindCompute(context));
    if (task->goes_on_) return Error(WASINN_ERROR_BUSY, "the compute goes on");
    ended = std::move(computes_begun_.extract(context).mapped());
  }
  Status status = ended->TakeStatus();
  if (status.ok()) return (*ended->use_)->WriteOutputs(memory);
  if (status.code() != WASINN_ERROR_BUSY) return status;
  return Status(WASINN_ERROR_UNAVAILABLE, std::string(status.message()), std::string(status.backend()));
}

Status Guest::CancelCompute(uint32_t context) {
  const std::lock_guard lock(begun_mutex_);
  ASSIGN_OR_RETURN(const Task* const task, FindCompute(context));
  if (task->goes_on_) (*task->use_)->CancelRun();
  return Status();
}

// Its context is gone: no caller can poll it.
void Guest::DropCompute(uint32_t context) noexcept {
  BegunComputes::node_type dropped;  // freed after the lock
  const std::lock_guard lock(begun_mutex_);
  dropped = computes_begun_.extract(context);
  if (!dropped) return;
  if (ComputeWait* const wait = std::exchange(dropped.mapped()->wait_, nullptr)) wait->SetOver();
}

// ---- Waits

Guest::ComputeWait::ComputeWait(Guest& guest, std::vector<uint32_t> contexts, uint32_t most_ms, Executor::Job then)
    : guest_(guest),
      contexts_(std::move(contexts)),
      most_ms_(most_ms),
      has_then_(then != nullptr),
      then_(guest.begun_, std::move(then)),
      watched_(
          guest.host_->watchdog(), std::chrono::milliseconds(most_ms == kForEver ? 0 : most_ms), [this] { SetOver(); },
          &guest.closing_) {}

Guest::ComputeWait::~ComputeWait() {
  const std::lock_guard lock(guest_.begun_mutex_);
  Leave();
}

Status Guest::ComputeWait::Begin() {
  if (contexts_.empty()) return Error(WASINN_ERROR_INVALID_ARGUMENT, "a wait for no compute would never end");
  RETURN_IF_ERROR(guest_.host_->watchdog().Start());
  // Until this returns, `then` waits for the lock.
  const std::lock_guard lock(guest_.begun_mutex_);
  // Left still under the lock, even if there is no memory: no compute's end may find a wait that has not begun.
  bool stays = false;
  const base::ScopeExit leave([&] {
    if (!stays) Leave();
  });
  bool ends = most_ms_ == 0;
  RETURN_IF_ERROR(Join(ends));
  if (!ends) run_.emplace(watched_);
  stays = true;
  if (ends) SetOver();
  return Status();
}

Status Guest::ComputeWait::Join(bool& ends) {
  for (const uint32_t context : contexts_) {
    ASSIGN_OR_RETURN(Task* const task, guest_.FindCompute(context));
    if (task->wait_ == this) return Error(WASINN_ERROR_INVALID_ARGUMENT, "context {:#x} is given twice", context);
    if (task->wait_ != nullptr)
      return Error(WASINN_ERROR_INVALID_ARGUMENT, "another thread waits for context {:#x}", context);
    task->wait_ = this;
    ends = ends || !task->goes_on_;
  }
  return Status();
}

void Guest::ComputeWait::Leave() noexcept {
  for (const uint32_t context : contexts_) {
    const auto found = guest_.computes_begun_.find(context);
    if (found != guest_.computes_begun_.end() && found->second->wait_ == this) found->second->wait_ = nullptr;
  }
}

void Guest::ComputeWait::SetOver() noexcept {
  if (is_over_.exchange(true, std::memory_order_acq_rel)) return;
  if (has_then_) return guest_.host_->executor().Begin(std::move(then_));
  is_over_.notify_one();
}

Result<uint32_t> Guest::ComputeWait::End() const {
  const std::lock_guard lock(guest_.begun_mutex_);
  for (uint32_t i = 0; i < contexts_.size(); ++i) {
    ASSIGN_OR_RETURN(const Task* const task, guest_.FindCompute(contexts_[i]));
    if (!task->goes_on_) return i;
  }
  if (guest_.is_closing()) return Fail(WASINN_ERROR_TIMEOUT, "the guest was closed");
  return Fail(WASINN_ERROR_BUSY, "no compute has ended after {} ms", most_ms_);
}

}  // namespace wasinn::core
