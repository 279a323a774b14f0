// The part of a guest that computes between its calls.
#include <chrono>
#include <utility>

#include "core/host/guest.h"

namespace wasinn::core {

Guest::BegunCompute::BegunCompute(Guest& guest, uint32_t handle) : context(handle), use(guest, handle) {
  if (!use) return;
  use.Keep();
  presence.reset(new Call(guest, kACompute));
  compute.emplace(*use, nullptr, guest.host_->executor(), guest.begun_,
                  [this, &guest](Status* told) { guest.EndCompute(*this, told); });
}

Status Guest::BeginCompute(uint32_t context) {
  AsyncCompute::Computers& computers = host_->computers();
  RETURN_IF_ERROR(host_->executor().Start());
  RETURN_IF_ERROR(computers.executor.Start());
  auto begun = std::make_unique<BegunCompute>(*this, context);
  if (!begun->use) return begun->use.TakeError();
  if (!*begun->presence) return Error(WASINN_ERROR_RUNTIME, "the guest is closed");
  AsyncCompute& compute = *begun->compute;
  const bool at_once = begun->use->CanComputeAsync();
  {
    const std::lock_guard lock(begun_mutex_);
    computes_begun_.emplace(context, std::move(begun));
  }
  at_once ? compute.Begin() : compute.BeginInTurn(computers);  // another thread may destroy it before this returns
  return Status();
}

void Guest::EndCompute(BegunCompute& begun, Status* status) noexcept {
  // Destroyed in the end, the last one first.
  const std::unique_ptr<Call> presence = std::move(begun.presence);
  std::unique_ptr<BegunCompute> dropped;
  const std::lock_guard lock(begun_mutex_);
  begun.ended = true;
  if (status != nullptr) begun.status = std::move(*status);
  if (begun.wait != nullptr) begun.wait->SetOver();
  if (!begun.dropped) return;
  const auto found = computes_begun_.find(begun.context);
  dropped = std::move(found->second);
  computes_begun_.erase(found);
}

Status Guest::PollCompute(uint32_t context, const GuestMemory& memory) {
  std::unique_ptr<BegunCompute> ended;  // its context is this call's until it is destroyed
  {
    const std::lock_guard lock(begun_mutex_);
    const auto found = computes_begun_.find(context);
    if (found == computes_begun_.end() || found->second->dropped) return NoCompute(context);
    if (!found->second->ended) return Error(WASINN_ERROR_BUSY, "the compute goes on");
    ended = std::move(found->second);
    computes_begun_.erase(found);
  }
  ended->use->RenewRuns();
  if (!ended->status) return Status(WASINN_ERROR_RUNTIME, "the host is out of memory");
  if (ended->status->ok()) return ended->use->WriteOutputs(memory);
  if (ended->status->code() != WASINN_ERROR_BUSY) return std::move(*ended->status);
  return Status(WASINN_ERROR_UNAVAILABLE, std::string(ended->status->message()), std::string(ended->status->backend()));
}

Status Guest::CancelCompute(uint32_t context) {
  const std::lock_guard lock(begun_mutex_);
  const auto found = computes_begun_.find(context);
  if (found == computes_begun_.end() || found->second->dropped) return NoCompute(context);
  if (!found->second->ended) found->second->use->CancelRun();
  return Status();
}

Status Guest::NoCompute(uint32_t context) const {
  if (!contexts_.Get(context)) return contexts_.NoSuch(context);
  return Error(WASINN_ERROR_INVALID_ARGUMENT, "no compute has begun on context {:#x}", context);
}

// Its context is gone: nobody polls it.
void Guest::DropCompute(uint32_t context) noexcept {
  std::unique_ptr<BegunCompute> dropped;
  const std::lock_guard lock(begun_mutex_);
  const auto found = computes_begun_.find(context);
  if (found == computes_begun_.end()) return;
  found->second->dropped = true;
  if (found->second->wait != nullptr) found->second->wait->SetOver();
  if (!found->second->ended) return;
  dropped = std::move(found->second);
  computes_begun_.erase(found);
}

// All have ended, except in a forked OS process, where they never do.
void Guest::DropComputes() noexcept {
  std::map<uint32_t, std::unique_ptr<BegunCompute>> left;
  const std::lock_guard lock(begun_mutex_);
  left.swap(computes_begun_);
  for (auto& [context, begun] : left) {
    if (!begun->ended) (void)begun.release();
  }
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
  struct Joined {
    ~Joined() {
      if (!stays) wait.Leave();
    }
    ComputeWait& wait;
    bool stays = false;
  } joined{*this};
  bool ends = most_ms_ == 0;
  RETURN_IF_ERROR(Join(ends));
  if (!ends) run_.emplace(watched_);
  joined.stays = true;
  if (ends) SetOver();
  return Status();
}

Status Guest::ComputeWait::Join(bool& ends) {
  for (const uint32_t context : contexts_) {
    const auto found = guest_.computes_begun_.find(context);
    if (found == guest_.computes_begun_.end() || found->second->dropped) return guest_.NoCompute(context);
    BegunCompute& begun = *found->second;
    if (begun.wait == this) return Error(WASINN_ERROR_INVALID_ARGUMENT, "context {:#x} is given twice", context);
    if (begun.wait != nullptr)
      return Error(WASINN_ERROR_INVALID_ARGUMENT, "another thread waits for context {:#x}", context);
    begun.wait = this;
    ends = ends || begun.ended;
  }
  return Status();
}

void Guest::ComputeWait::Leave() noexcept {
  for (const uint32_t context : contexts_) {
    const auto found = guest_.computes_begun_.find(context);
    if (found != guest_.computes_begun_.end() && found->second->wait == this) found->second->wait = nullptr;
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
    const auto found = guest_.computes_begun_.find(contexts_[i]);
    if (found == guest_.computes_begun_.end() || found->second->dropped)
      return std::unexpected(guest_.NoCompute(contexts_[i]));
    if (found->second->ended) return i;
  }
  if (guest_.is_closing()) return Fail(WASINN_ERROR_TIMEOUT, "the guest was closed");
  return Fail(WASINN_ERROR_BUSY, "no compute has ended after {} ms", most_ms_);
}

}  // namespace wasinn::core
