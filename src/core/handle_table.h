// Maps the handles that a guest holds to objects. A handle is a number that the guest may forge, keep after the object
// is gone or use from several threads; a look-up of anything but a live handle of the right kind fails.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/status.h"
#include "core/word_mutex.h"

namespace wasinn::core {

enum class HandleKind : uint32_t { kGraph = 1, kContext = 2, kTensor = 3, kError = 4 };

// A handle, from the top: a zero bit (guests read handles as signed), 3 bits kind (never 0, so no handle is 0), 12 bits
// generation, 16 bits index. Freed slots are reused oldest first, so that a stale handle stays invalid for as long as
// possible.
template <typename T>
class HandleTable {
 public:
  HandleTable(HandleKind kind, const char* what) : kind_(kind), what_(what) {}

  Result<uint32_t> Insert(std::shared_ptr<T> object) {
    std::lock_guard lock(mutex_);
    if (first_free_ == kNone && slots_.size() > kIndexMask) {
      return Fail(WASINN_TOO_LARGE, "no more than {} handles of {}s at once", kIndexMask + 1, what_);
    }
    uint32_t index = TakeSlot();
    slots_[index].object = std::move(object);
    return Handle(index, slots_[index].generation);
  }

  // Whether it is a handle of this table, or was or could be one.
  bool IsOfKind(uint32_t handle) const {
    return handle >> (kIndexBits + kGenerationBits) == static_cast<uint32_t>(kind_);
  }

  Result<std::shared_ptr<T>> Get(uint32_t handle) const {
    std::lock_guard lock(mutex_);
    if (!IsLive(handle)) return std::unexpected(NoSuch(handle));
    return slots_[handle & kIndexMask].object;
  }

  // Calls it with the object, under the lock.
  template <typename Function>
  Status With(uint32_t handle, const Function& function) const {
    std::lock_guard lock(mutex_);
    if (!IsLive(handle)) return NoSuch(handle);
    function(*slots_[handle & kIndexMask].object);
    return Status();
  }

  // The handle is invalid from now on; the object lives until its last user lets go. Needs no memory.
  Result<std::shared_ptr<T>> Remove(uint32_t handle) {
    std::lock_guard lock(mutex_);
    if (!IsLive(handle)) return std::unexpected(NoSuch(handle));
    return Release(handle & kIndexMask);
  }

  // Removes every object, for good: nothing is inserted any more. Returns how many there were. Needs no memory.
  size_t Clear() noexcept {
    std::vector<Slot> slots;  // so that they die outside of the lock
    {
      const std::lock_guard lock(mutex_);
      slots.swap(slots_);
      first_free_ = last_free_ = kNone;
    }
    return static_cast<size_t>(std::ranges::count_if(slots, [](const Slot& slot) { return slot.object != nullptr; }));
  }

  // The same for each object, one by one: nobody keeps an object alive by looking at it.
  template <typename Function>
  void WithEach(const Function& function) const {
    for (size_t index = 0;; ++index) {
      const std::lock_guard lock(mutex_);
      if (index >= slots_.size()) return;
      if (slots_[index].object != nullptr) function(*slots_[index].object);
    }
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Slot {
    std::shared_ptr<T> object;
    uint32_t generation = 0;
    uint32_t next_free = kNone;  // of a free slot: the one that was freed after it
  };
  static constexpr uint32_t kIndexBits = 16, kGenerationBits = 12;
  static constexpr uint32_t kIndexMask = (1u << kIndexBits) - 1, kGenerationMask = (1u << kGenerationBits) - 1;

  uint32_t Handle(uint32_t index, uint32_t generation) const {
    return (static_cast<uint32_t>(kind_) << (kIndexBits + kGenerationBits)) | (generation << kIndexBits) | index;
  }

  bool IsLive(uint32_t handle) const {
    const uint32_t index = handle & kIndexMask;
    return index < slots_.size() && slots_[index].object && handle == Handle(index, slots_[index].generation);
  }

  uint32_t TakeSlot() {
    if (first_free_ == kNone) {
      slots_.emplace_back();
      return static_cast<uint32_t>(slots_.size() - 1);
    }
    const uint32_t index = first_free_;
    first_free_ = std::exchange(slots_[index].next_free, kNone);
    if (first_free_ == kNone) last_free_ = kNone;
    return index;
  }

  std::shared_ptr<T> Release(uint32_t index) {
    Slot& slot = slots_[index];
    slot.generation = (slot.generation + 1) & kGenerationMask;
    (last_free_ == kNone ? first_free_ : slots_[last_free_].next_free) = index;
    last_free_ = index;
    return std::move(slot.object);
  }

  Status NoSuch(uint32_t handle) const {
    return Error(WASINN_INVALID_ARGUMENT, "{:#x} is not a handle of a live {}", handle, what_);
  }

  const HandleKind kind_;
  const char* const what_;
  mutable WordMutex mutex_;  // held for a few instructions
  std::vector<Slot> slots_;
  uint32_t first_free_ = kNone, last_free_ = kNone;  // a list, oldest first
};

}  // namespace wasinn::core
