#include "core/inference/slot_pool.h"

#include <algorithm>
#include <optional>

#include "base/scope_exit.h"

namespace wasinn::core {

SlotPool::~SlotPool() {
  for (const Idle& idle : idle_) Free(idle.slot);
}

bool SlotPool::TakeRight(uint32_t most) {
  const std::lock_guard lock(mutex_);
  if (rights_ >= most) return false;
  most_ = std::max(most_, most);
  idle_.reserve(most_);
  ++rights_;
  return true;
}

void SlotPool::GiveRight() {
  const std::lock_guard lock(mutex_);
  --rights_;
}

// Its place is counted already, and is free again if it fails.
Result<wasinn_backend_slot*> SlotPool::Make(wasinn_slot_options options) {
  bool is_made = false;
  const base::ScopeExit uncount([&] {
    if (is_made) return;
    const std::lock_guard lock(mutex_);
    --made_;
  });
  Reservation charge;
  if (account_ != nullptr) {
    charge = Reservation(*account_);
    RETURN_IF_ERROR(charge.Resize(bytes_));
  }
  options.account = account_;
  wasinn_backend_slot* slot = nullptr;
  Status status = backend_.Take(backend_.table().slot_new(graph_, &options, &slot));
  if (status.ok() && slot == nullptr) {
    status = Status(WASINN_ERROR_RUNTIME, "the backend made no context", backend_.table().name);
  }
  if (!status.ok()) return std::unexpected(std::move(status));
  charge.Release();  // until Free
  is_made = true;
  return slot;
}

void SlotPool::Free(wasinn_backend_slot* slot) const noexcept {
  backend_.table().slot_free(slot);
  if (account_ != nullptr) account_->GiveBack(bytes_);
}

Status SlotPool::Prepare(const wasinn_slot_options& options, uint32_t most) {
  {
    const std::lock_guard lock(mutex_);
    most_ = std::max(most_, most);
    if (made_ >= most) return Status();
    idle_.reserve(most_);
    ++made_;
  }
  ASSIGN_OR_RETURN(wasinn_backend_slot * slot, Make(options));
  {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < idle_.capacity()) {
      idle_.push_back({.slot = slot, .max_bytes = options.max_bytes});
      return Status();
    }
    --made_;
  }
  Free(slot);  // other slots have become idle in the meantime
  return Status();
}

SlotPool::Idle SlotPool::RemoveAt(size_t index) {
  const Idle idle = idle_[index];
  idle_.erase(idle_.begin() + static_cast<ptrdiff_t>(index));
  return idle;
}

// If no slot is the holder's own: one without a holder, else the one that was given back first. If none has this limit
// and all room is taken: one with another limit, which the caller frees.
SlotPool::Idle SlotPool::FindIdle(const void* holder, uint64_t max_bytes) {
  std::optional<size_t> best;
  for (size_t i = 0; i < idle_.size(); ++i) {
    const Idle& idle = idle_[i];
    if (idle.max_bytes != max_bytes) continue;
    if (idle.holder == holder) return RemoveAt(i);
    if (!best || (idle.holder == nullptr && idle_[*best].holder != nullptr)) best = i;
  }
  if (best) return RemoveAt(*best);
  if (made_ >= most_ && !idle_.empty()) return RemoveAt(0);
  ++made_;
  return {};
}

bool SlotPool::Reset(wasinn_backend_slot* slot) const {
  wasinn_error* const error = backend_.table().reset(slot);
  if (error != nullptr) error->release(error);
  return error == nullptr;
}

Result<SlotPool::Taken> SlotPool::Take(const void* holder, const wasinn_slot_options& options) {
  Idle found;
  {
    const std::lock_guard lock(mutex_);
    found = FindIdle(holder, options.max_bytes);
  }
  const bool fits = found.slot != nullptr && found.max_bytes == options.max_bytes;
  if (fits && found.holder == holder) return Taken{.slot = found.slot, .as_left = true};
  if (fits && (found.holder == nullptr || Reset(found.slot))) return Taken{.slot = found.slot, .as_left = false};
  // A new slot takes its place in the count.
  if (found.slot != nullptr) Free(found.slot);
  ASSIGN_OR_RETURN(wasinn_backend_slot * slot, Make(options));
  return Taken{.slot = slot, .as_left = false};
}

void SlotPool::Give(wasinn_backend_slot* slot, const void* holder, uint64_t max_bytes) noexcept {
  const bool usable = holder != nullptr || Reset(slot);
  {
    const std::lock_guard lock(mutex_);
    if (usable && idle_.size() < most_ && idle_.size() < idle_.capacity()) {
      idle_.push_back({.slot = slot, .max_bytes = max_bytes, .holder = holder});
      return;
    }
    --made_;
  }
  Free(slot);
}

Result<wasinn_backend_slot*> SlotPool::TakeForGood(const wasinn_slot_options& options) {
  ASSIGN_OR_RETURN(Taken taken, Take(nullptr, options));
  const std::lock_guard lock(mutex_);
  --made_;
  return taken.slot;
}

void SlotPool::GiveBack(wasinn_backend_slot* slot, uint64_t max_bytes) noexcept {
  {
    const std::lock_guard lock(mutex_);
    ++made_;
  }
  Give(slot, nullptr, max_bytes);
}

// The pool becomes the holder: no session has its address, so the slot is reset before its next use.
void SlotPool::Forget(const void* holder) {
  const std::lock_guard lock(mutex_);
  for (Idle& idle : idle_) {
    if (idle.holder == holder) idle.holder = this;
  }
}

}  // namespace wasinn::core
