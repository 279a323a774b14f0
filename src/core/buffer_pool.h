// Memory of the host for tensors, kept for the next one: a fresh block of 600 KB is a system call and 150 page faults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace wasinn::core {

// Any thread. Buffers keep the pool.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
 public:
  static constexpr size_t kAlignment = 64, kTail = 64;  // what backends may count on
  static constexpr size_t kMostBytes = size_t{64} << 20, kMostBlocks = 64;

  static std::shared_ptr<BufferPool> Create() { return std::shared_ptr<BufferPool>(new BufferPool); }
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // Aligned memory, uninitialised but for its tail. Goes back to the pool, or to the system if the pool is full.
  class Buffer {
   public:
    Buffer() = default;
    Buffer(Buffer&& other) noexcept { *this = std::move(other); }
    Buffer& operator=(Buffer&& other) noexcept;
    ~Buffer();

    uint8_t* data() const { return data_; }

   private:
    friend class BufferPool;
    std::shared_ptr<BufferPool> pool_;
    uint8_t* data_ = nullptr;
    size_t capacity_ = 0;
  };
  // Throws std::bad_alloc.
  Buffer Take(size_t bytes);

 private:
  BufferPool() = default;
  struct Block {
    uint8_t* data;
    size_t capacity;
  };
  void Give(Block block);
  // Null if none fits.
  Block Find(size_t capacity);

  std::mutex mutex_;
  std::vector<Block> blocks_;  // the one that came last is at the end
  size_t bytes_ = 0;           // in blocks_
};

}  // namespace wasinn::core
