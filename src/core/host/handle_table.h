// Maps the handles that a guest holds to objects. A handle is a number that the guest may forge, keep after the object
// is gone or use from several threads. Only the look-up of a live handle of the right kind succeeds.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "core/status.h"

namespace wasinn::core {

enum class HandleKind : uint32_t { kGraph = 1, kContext = 2, kTensor = 3, kError = 4 };

// A handle, from the top: a zero bit (guests read handles as signed), 3 bits kind (never 0, so no handle is 0), 12 bits
// generation, 16 bits index. Freed slots are reused oldest first, so that a stale handle stays invalid for as long as
// possible.
template <typename T>
class HandleTable {
  struct Slot {
    std::atomic<uint32_t> word{0};  // the live handle without its index, and the marks below; 0: free
    std::shared_ptr<T> object;
    uint32_t generation = 0;
    uint32_t next_free = kNone;  // of a free slot: the next in the list of free slots
  };

 public:
  HandleTable(HandleKind kind, const char* what) : kind_(kind), what_(what) {}
  ~HandleTable() {
    (void)Clear();
    for (const std::atomic<Slot*>& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
  }
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;

  Result<uint32_t> Insert(std::shared_ptr<T> object) {
    std::lock_guard lock(mutex_);
    if (first_free_ == kNone && size_ > kIndexMask) {
      return Fail(WASINN_ERROR_TOO_LARGE, "no more than {} handles of {}s at once", kIndexMask + 1, what_);
    }
    const uint32_t index = TakeSlot();
    Slot& slot = *Find(index);
    slot.object = std::move(object);
    const uint32_t handle =
        (static_cast<uint32_t>(kind_) << (kIndexBits + kGenerationBits)) | (slot.generation << kIndexBits) | index;
    slot.word.store(WordOf(handle), std::memory_order_release);
    return handle;
  }

  // Whether the number is a handle of this table, or was or could be one.
  bool IsOfKind(uint32_t handle) const {
    return handle >> (kIndexBits + kGenerationBits) == static_cast<uint32_t>(kind_);
  }

  Result<std::shared_ptr<T>> Get(uint32_t handle) const {
    std::lock_guard lock(mutex_);
    const Slot* const slot = FindLive(handle);
    if (slot == nullptr) return std::unexpected(NoSuch(handle));
    return slot->object;
  }

  // The object for one thread only, without a lock. An error if the handle has no object, BUSY if another thread has
  // it. If it is removed in the meantime, it is destroyed at the end of the use. Close waits for that end.
  class Use {
   public:
    Use(HandleTable& table, uint32_t handle) : table_(table), index_(handle & kIndexMask) {
      Slot* const slot = table.Find(index_);
      uint32_t word = WordOf(handle);
      if (slot != nullptr && slot->word.compare_exchange_strong(word, word | kUsed, std::memory_order_acquire))
          [[likely]] {
        slot_ = slot;
      } else {
        is_busy_ = slot != nullptr && (word & ~kKept) == (WordOf(handle) | kUsed);
        is_kept_ = is_busy_ && (word & kKept) != 0;
      }
    }
    ~Use() {
      if (slot_ == nullptr) return;
      const uint32_t word = slot_->word.fetch_and(~(kUsed | kKept), std::memory_order_acq_rel);
      if ((word & kLive) == 0) [[unlikely]]
        table_.EndRemoved(index_);
    }
    Use(Use&& other) noexcept
        : table_(other.table_), slot_(std::exchange(other.slot_, nullptr)), index_(other.index_) {}
    Use& operator=(Use&&) = delete;
    explicit operator bool() const { return slot_ != nullptr; }
    T& operator*() const { return *slot_->object; }
    // Valid if there is no object.
    bool is_busy() const { return is_busy_; }
    bool is_kept() const { return is_kept_; }
    // From now on no thread has it, but the guest itself, between its calls. Valid if there is an object.
    void Keep() { slot_->word.fetch_or(kKept, std::memory_order_relaxed); }

   private:
    HandleTable& table_;
    Slot* slot_ = nullptr;
    const uint32_t index_;
    bool is_busy_ = false, is_kept_ = false;
  };
  Status NoSuch(uint32_t handle) const {
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "{:#x} is not a handle of a live {}", handle, what_);
  }

  // The handle becomes invalid; the object lives until its last user releases it. Allocates nothing.
  Result<std::shared_ptr<T>> Remove(uint32_t handle) {
    std::lock_guard lock(mutex_);
    Slot* const slot = FindLive(handle);
    if (slot == nullptr) return std::unexpected(NoSuch(handle));
    if (!EndHandle(*slot)) return Release(handle & kIndexMask);
    return slot->object;
  }

  // Makes every handle invalid, for good: no thread inserts objects any more. They stay until Clear. Allocates nothing.
  void Close() noexcept {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    for (uint32_t i = 0; i < size_; ++i) (void)EndHandle(*Find(i));
  }
  // After Close: returns when no thread has an object.
  void WaitUntilUnused() const noexcept {
    while (const uint32_t uses = removed_uses_.load(std::memory_order_acquire)) {
      removed_uses_.wait(uses, std::memory_order_acquire);
    }
  }
  // Whether a thread has one.
  bool has_use() const {
    const std::lock_guard lock(mutex_);
    for (uint32_t i = 0; i < size_; ++i) {
      if ((Find(i)->word.load(std::memory_order_relaxed) & (kUsed | kKept)) == kUsed) return true;
    }
    return false;
  }

  // Removes every object, for good: no thread inserts or has one any more. Returns their number. Allocates nothing. The
  // slots stay, so that threads which still look for a handle find none.
  size_t Clear() noexcept {
    size_t count = 0;
    for (uint32_t index = 0;; ++index) {
      std::shared_ptr<T> object;  // destroyed outside of the lock
      const std::lock_guard lock(mutex_);
      if (index >= size_) return count;
      Find(index)->word.store(0, std::memory_order_release);
      object = std::move(Find(index)->object);
      count += object != nullptr ? 1 : 0;
    }
  }

  // Calls a function for each object, one by one. It keeps no object alive.
  template <typename Function>
  void WithEach(const Function& function) const {
    for (uint32_t index = 0;; ++index) {
      const std::lock_guard lock(mutex_);
      if (index >= size_) return;
      if (const Slot& slot = *Find(index); slot.object != nullptr) function(*slot.object);
    }
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kIndexBits = 16, kGenerationBits = 12;
  static constexpr uint32_t kIndexMask = (1u << kIndexBits) - 1, kGenerationMask = (1u << kGenerationBits) - 1;
  static constexpr uint32_t kLive = 1, kUsed = 2, kKept = 4;  // bits of a word below the kind and the generation
  static uint32_t WordOf(uint32_t handle) { return (handle >> kIndexBits << 3) | kLive; }

  // Slots are read without the lock, so they never move: they are in chunks, each twice as long as the one before.
  static constexpr uint32_t kFirstChunk = 4;
  static constexpr size_t kChunks = 15;
  Slot* Find(uint32_t index) const {
    const auto number = static_cast<size_t>(std::bit_width(index / kFirstChunk + 1)) - 1;
    Slot* const chunk = chunks_[number].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : chunk + (index + kFirstChunk - (size_t{kFirstChunk} << number));
  }

  Slot* FindLive(uint32_t handle) const {
    Slot* const slot = Find(handle & kIndexMask);
    const bool is_live =
        slot != nullptr && (slot->word.load(std::memory_order_acquire) & ~(kUsed | kKept)) == WordOf(handle);
    return is_live ? slot : nullptr;
  }

  uint32_t TakeSlot() {
    if (first_free_ == kNone) {
      if (Find(size_) == nullptr) {  // the first slot of its chunk
        const uint32_t slots = size_ + kFirstChunk;
        chunks_[static_cast<size_t>(std::countr_zero(slots / kFirstChunk))].store(new Slot[slots],
                                                                                  std::memory_order_release);
      }
      return size_++;
    }
    const uint32_t index = first_free_;
    first_free_ = std::exchange(Find(index)->next_free, kNone);
    if (first_free_ == kNone) last_free_ = kNone;
    return index;
  }

  std::shared_ptr<T> Release(uint32_t index) {
    Slot& slot = *Find(index);
    slot.word.store(0, std::memory_order_release);
    slot.generation = (slot.generation + 1) & kGenerationMask;
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): an index in the list is that of a slot
    (last_free_ == kNone ? first_free_ : Find(last_free_)->next_free) = index;
    last_free_ = index;
    return std::move(slot.object);
  }

  // True: a thread has the object, and calls EndRemoved.
  bool EndHandle(Slot& slot) {
    const uint32_t word = slot.word.fetch_and(~kLive, std::memory_order_acq_rel);
    const bool is_in_use = (word & (kLive | kUsed)) == (kLive | kUsed);
    if (is_in_use) removed_uses_.fetch_add(1, std::memory_order_relaxed);
    return is_in_use;
  }

  // The end of a use whose handle was removed. The table may be gone when the last one is counted.
  void EndRemoved(uint32_t index) {
    {
      std::shared_ptr<T> object;  // destroyed outside of the lock
      const std::lock_guard lock(mutex_);
      if (!is_closed_) object = Release(index);
    }
    if (removed_uses_.fetch_sub(1, std::memory_order_acq_rel) == 1) removed_uses_.notify_all();
  }

  const HandleKind kind_;
  const char* const what_;
  mutable std::mutex mutex_;  // held for a few instructions
  std::array<std::atomic<Slot*>, kChunks> chunks_{};
  std::atomic<uint32_t> removed_uses_{0};  // of objects whose handle was removed
  bool is_closed_ = false;
  uint32_t size_ = 0;
  uint32_t first_free_ = kNone, last_free_ = kNone;  // a list, oldest first
};

}  // namespace wasinn::core
