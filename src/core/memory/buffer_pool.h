// The host's memory for tensors, kept for reuse: a fresh block of 600 KB costs a system call and 150 page faults.
#pragma once

#include <wasinn/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace wasinn::core {

// Thread-safe. Buffers keep the pool alive.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
 public:
  static constexpr size_t kMaxBytes = size_t{64} << 20, kMaxBlocks = 64;
  // The part of one guest's limit that the pool may keep: idle memory belongs to no guest, and is not charged.
  static constexpr uint64_t kPartOfLimit = 16;

  static std::shared_ptr<BufferPool> Create(uint64_t guests_limit = UINT64_MAX) {
    return std::shared_ptr<BufferPool>(new BufferPool(guests_limit));
  }
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // A new reader of what was written before: a guest. Never 0.
  uint64_t NewUser() { return users_.fetch_add(1, std::memory_order_relaxed) + 1; }

  // The last use of a block.
  struct Use {
    uint64_t user = 0;  // 0: none
    bool read_first = false;
    bool operator==(const Use&) const = default;
  };

  // Aligned memory, uninitialised except for its tail. Goes back to the pool, or to the system if the pool is full.
  class Buffer {
   public:
    Buffer() = default;
    Buffer(Buffer&& other) noexcept { *this = std::move(other); }
    Buffer& operator=(Buffer&& other) noexcept;
    ~Buffer();

    uint8_t* data() const { return data_; }  // NULL: there is none

   private:
    friend class BufferPool;
    std::shared_ptr<BufferPool> pool_;
    uint8_t* data_ = nullptr;
    size_t capacity_ = 0;
    Use use_;
  };
  // For a user that writes all of it before it is read. Both throw std::bad_alloc.
  Buffer Take(uint64_t user, size_t bytes);
  // Contains nothing of another user.
  Buffer TakeClean(uint64_t user, size_t bytes);

 private:
  explicit BufferPool(uint64_t guests_limit);
  struct Block {
    uint8_t* data;
    size_t capacity;
    Use use;
  };
  void Give(Block block) noexcept;
  // Null if none fits.
  Block Find(size_t capacity, Use use);
  Buffer Make(Use use, size_t bytes, Block block);

  const size_t most_bytes_;
  std::atomic<uint64_t> users_{0};
  std::mutex mutex_;
  std::vector<Block> blocks_;  // the latest is at the end; never grows beyond its reserved size
  size_t bytes_ = 0;           // in blocks_
};

}  // namespace wasinn::core
