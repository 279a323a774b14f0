#include "core/context_slot.h"

#include <string_view>
#include <utility>

namespace wasinn::core {

void ContextSlot::Close() {
  if (!is_own_) graph_->slots()->Forget(this);
  wasinn_backend_slot* const slot = std::exchange(slot_, nullptr);
  if (slot != nullptr && is_pooled_) {
    graph_->slots()->GiveBack(slot, max_bytes_);
  } else if (slot != nullptr) {
    table().slot_free(slot);
  }
  if (std::exchange(has_right_, false)) graph_->slots()->GiveRight();
}

Status ContextSlot::Open(wasinn_slot_options options, uint32_t most, Interruptible& opening,
                         const ContextResources& of_steps) {
  // Slots are equal where no guest has a word in them.
  SlotPool* const shared = std::string_view(options.guest_config) == "{}" ? graph_->slots() : nullptr;
  has_right_ = shared != nullptr && shared->TakeRight(most);
  is_own_ = shared == nullptr || has_right_;
  is_pooled_ = has_right_ && shared->serves_guests_to_come();
  max_bytes_ = options.max_bytes;
  options.token = opening.token();
  options.on_cancel = Interruptible::on_cancel();
  return opening.Run("making of a context", table().name, [&] {
    if (!is_own_) return graph_->Noted(shared->Prepare(options, most));
    if (is_pooled_) return TakeFrom(*shared, options);
    Status status = StatusOf(graph_->backend().NewSlot(graph_->model(), options, of_steps, &slot_));
    if (!status.ok() || slot_ != nullptr) return status;
    return Status(WASINN_RUNTIME_ERROR, "the backend made no context", table().name);
  });
}

// One that another guest's context has left is made already: what costs time is its making.
Status ContextSlot::TakeFrom(SlotPool& shared, const wasinn_slot_options& options) {
  Result<wasinn_backend_slot*> taken = shared.TakeForGood(options);
  if (!taken) return graph_->Noted(std::move(taken.error()));
  slot_ = *taken;
  return Status();
}

Status ContextSlot::Borrow() {
  auto taken = graph_->slots()->Take(this, {.struct_size = sizeof(wasinn_slot_options),
                                            .max_bytes = max_bytes_,
                                            .guest_config = "{}",
                                            .account = nullptr,
                                            .token = &making_,
                                            .on_cancel = &CancelHook::Register});
  if (!taken) return graph_->Noted(std::move(taken.error()));
  slot_ = taken->slot;
  is_as_left_ = taken->as_left;
  return Status();
}

// No call is inside, so nobody cancels: the next one on this slot is another one's.
void ContextSlot::GiveBack() {
  graph_->slots()->Give(std::exchange(slot_, nullptr), std::exchange(resets_, false) ? nullptr : this, max_bytes_);
}

void ContextSlot::Cancel() {
  making_.Cancel();
  if (table().cancel != nullptr) gate_.Cancel([this] { table().cancel(slot_); });
}

}  // namespace wasinn::core
