#include "core/inference/interruptible.h"

namespace wasinn::core {

void CancelHook::Register(void* hook, void (*cancel)(void*), void* arg) {
  auto* self = static_cast<CancelHook*>(hook);
  const std::lock_guard lock(self->mutex_);
  self->cancel_ = cancel;
  self->arg_ = arg;
}

void CancelHook::Cancel() {
  const std::lock_guard lock(mutex_);
  if (cancel_ != nullptr) cancel_(arg_);
}

Status Interruptible::Outcome(const char* what, const char* backend, const Status& status) const {
  if (status.ok() || (!overdue_ && !watched_->cancelled())) return Copy(status);
  const std::string why = overdue_ ? fmt::format("after {} ms", limit_.count()) : "since nobody waits for it any more";
  return Status(WASINN_ERROR_TIMEOUT, fmt::format("the {} was stopped {}: {}", what, why, status.message()), backend);
}

}  // namespace wasinn::core
