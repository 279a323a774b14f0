// Slots of one graph that contexts share: a context leases one for the time of a compute. So there are as many as
// computes run at once, and not as many as contexts.
#pragma once

#include <wasinn/backend.h>

#include <cstdint>
#include <mutex>
#include <vector>

#include "core/memory/quota.h"
#include "core/models/backend.h"

namespace wasinn::core {

// Thread-safe.
class SlotPool {
 public:
  // `account` pays for the slots: the graph's account, NULL for the host's. All arguments outlive the pool. Each slot
  // has `bytes` that its backend does not charge: outputs of a known shape. `of_fixed_size`: the signature fixes all
  // shapes.
  SlotPool(const Backend& backend, wasinn_backend_graph* graph, Quota* account, uint64_t bytes, bool of_fixed_size)
      : backend_(backend), graph_(graph), account_(account), bytes_(bytes), of_fixed_size_(of_fixed_size) {}
  ~SlotPool();
  SlotPool(const SlotPool&) = delete;
  SlotPool& operator=(const SlotPool&) = delete;

  // The host pays for the slots, so they may stay when a guest is gone. A slot that grows with a guest's shapes is
  // charged to that guest, and is its own.
  bool serves_guests_to_come() const { return account_ == nullptr && of_fixed_size_; }

  // If there is much room, a context has a slot of its own, which is bound once. False: there are `most` already.
  bool TakeRight(uint32_t most);
  void GiveRight();

  // For contexts without a slot of their own: makes sure that there are slots, at most `most` of them idle. `options`
  // as for slot_new, but without account.
  Status Prepare(const wasinn_slot_options& options, uint32_t most);

  struct Taken {
    wasinn_backend_slot* slot;
    bool as_left;  // `holder` had it last: everything is still bound
  };
  // The slot that `holder` had last, if it is idle; else one of another holder, as new; else a new one, with `options`
  // as in Prepare. Only slots of equal max_bytes are equal.
  Result<Taken> Take(const void* holder, const wasinn_slot_options& options);
  // Gives it back for others, or for `holder` again. NULL: computes left so much memory in it that it must not go to
  // the same holder.
  void Give(wasinn_backend_slot* slot, const void* holder, uint64_t max_bytes) noexcept;
  // As Take, for a context with a right: the slot is its own until it gives it back, and is not shared.
  Result<wasinn_backend_slot*> TakeForGood(const wasinn_slot_options& options);
  void GiveBack(wasinn_backend_slot* slot, uint64_t max_bytes) noexcept;
  // The holder is gone: its bindings are not mistaken for another one's.
  void Forget(const void* holder);

 private:
  struct Idle {
    wasinn_backend_slot* slot = nullptr;
    uint64_t max_bytes = 0;
    const void* holder = nullptr;  // the last holder; NULL: as new
  };

  Idle FindIdle(const void* holder, uint64_t max_bytes);
  Idle RemoveAt(size_t index);
  bool Reset(wasinn_backend_slot* slot) const;
  Result<wasinn_backend_slot*> Make(wasinn_slot_options options);
  void Free(wasinn_backend_slot* slot) const noexcept;

  const Backend& backend_;
  wasinn_backend_graph* const graph_;
  Quota* const account_;
  const uint64_t bytes_;
  const bool of_fixed_size_;
  std::mutex mutex_;        // never held during a call of a backend
  std::vector<Idle> idle_;  // the most recent one is at the end
  uint32_t rights_ = 0;
  uint32_t made_ = 0;  // idle or in use
  uint32_t most_ = 1;  // that may be idle
};

}  // namespace wasinn::core
