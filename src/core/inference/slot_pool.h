// Slots of one graph that contexts share: a context has one for the time of a compute. So there are as many as computes
// run at once, and not as many as contexts.
#pragma once

#include <wasinn/backend.h>

#include <cstdint>
#include <mutex>
#include <vector>

#include "core/memory/quota.h"
#include "core/models/backend.h"

namespace wasinn::core {

// Any thread.
class SlotPool {
 public:
  // `account` is whose memory slots are: the one of the graph, NULL for the host's. All outlive the pool. Each slot has
  // so many `bytes` that its backend does not charge: outputs of a known shape.
  // `of_fixed_size`: the signature fixes all shapes.
  SlotPool(const Backend& backend, wasinn_backend_graph* graph, Quota* account, uint64_t bytes, bool of_fixed_size)
      : backend_(backend), graph_(graph), account_(account), bytes_(bytes), of_fixed_size_(of_fixed_size) {}
  ~SlotPool();
  SlotPool(const SlotPool&) = delete;
  SlotPool& operator=(const SlotPool&) = delete;

  // Slots are the host's, and so may stay when a guest goes. Where a guest's shapes make one grow, that is charged to
  // the guest: so it is the guest's own.
  bool serves_guests_to_come() const { return account_ == nullptr && of_fixed_size_; }

  // Where there is much room, a context has a slot to itself, which is bound once. False: there are `most` already.
  bool TakeRight(uint32_t most);
  void GiveRight();

  // For contexts that have none: sees to it that there are slots, no more than `most` at rest. `options` as of slot_new,
  // but for the account.
  Status Prepare(const wasinn_slot_options& options, uint32_t most);

  struct Taken {
    wasinn_backend_slot* slot;
    bool as_left;  // `holder` had it last: all that was bound is bound still
  };
  // The one that `holder` had last, if it rests; else one that another had, as new; else a new one, of `options` as of
  // Prepare. Only slots of equal max_bytes are equal.
  Result<Taken> Take(const void* holder, const wasinn_slot_options& options);
  // For others, or for `holder` once more; NULL: its computes left memory in it that is worth more than a new start.
  void Give(wasinn_backend_slot* slot, const void* holder, uint64_t max_bytes) noexcept;
  // The same for a context that has a right: the slot is its own until it gives it back, and is none of those that are
  // shared.
  Result<wasinn_backend_slot*> TakeForGood(const wasinn_slot_options& options);
  void GiveBack(wasinn_backend_slot* slot, uint64_t max_bytes) noexcept;
  // It is gone: what it left bound is not taken for another one's.
  void Forget(const void* holder);

 private:
  struct Resting {
    wasinn_backend_slot* slot = nullptr;
    uint64_t max_bytes = 0;
    const void* holder = nullptr;  // who had it last; NULL: it is as new
  };

  class Place;  // for one more, unless it stays empty
  Resting FindResting(const void* holder, uint64_t max_bytes);
  Resting RemoveAt(size_t index);
  bool Reset(wasinn_backend_slot* slot) const;
  Result<wasinn_backend_slot*> Make(wasinn_slot_options options) const;
  void Free(wasinn_backend_slot* slot) const noexcept;

  const Backend& backend_;
  wasinn_backend_graph* const graph_;
  Quota* const account_;
  const uint64_t bytes_;
  const bool of_fixed_size_;
  std::mutex mutex_;              // never held while a backend is called
  std::vector<Resting> resting_;  // the one that came last is at the end
  uint32_t rights_ = 0;
  uint32_t made_ = 0;  // that rest or are in use
  uint32_t most_ = 1;  // that may rest
};

}  // namespace wasinn::core
