#include "core/buffer_pool.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <utility>

namespace wasinn::core {

BufferPool::BufferPool(uint64_t guests_limit)
    : most_bytes_(static_cast<size_t>(std::min<uint64_t>(kMostBytes, guests_limit / kPartOfLimit))) {
  blocks_.reserve(kMostBlocks);
}

BufferPool::~BufferPool() {
  for (const Block& block : blocks_) std::free(block.data);
}

BufferPool::Buffer& BufferPool::Buffer::operator=(Buffer&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(data_, other.data_);
  std::swap(capacity_, other.capacity_);
  return *this;
}

BufferPool::Buffer::~Buffer() {
  if (data_ != nullptr) pool_->Give({data_, capacity_});
}

BufferPool::Buffer BufferPool::Take(size_t bytes) {
  if (bytes > PTRDIFF_MAX - WASINN_TENSOR_TAIL - WASINN_TENSOR_ALIGNMENT) throw std::bad_alloc();
  const size_t needed =
      (bytes + WASINN_TENSOR_TAIL + WASINN_TENSOR_ALIGNMENT - 1) / WASINN_TENSOR_ALIGNMENT * WASINN_TENSOR_ALIGNMENT;
  Block block = Find(needed);
  if (block.data == nullptr) {
    block = {static_cast<uint8_t*>(std::aligned_alloc(WASINN_TENSOR_ALIGNMENT, needed)), needed};
    if (block.data == nullptr) throw std::bad_alloc();
  }
  std::memset(block.data + bytes, 0, WASINN_TENSOR_TAIL);
  Buffer buffer;
  buffer.pool_ = shared_from_this();
  buffer.data_ = block.data;
  buffer.capacity_ = block.capacity;
  return buffer;
}

// The latest of just this size: its bytes are the likeliest to be in a cache. No larger one, since its user is charged
// for what was asked for.
BufferPool::Block BufferPool::Find(size_t capacity) {
  const std::lock_guard lock(mutex_);
  for (size_t i = blocks_.size(); i-- > 0;) {
    const Block block = blocks_[i];
    if (block.capacity != capacity) continue;
    blocks_.erase(blocks_.begin() + static_cast<ptrdiff_t>(i));
    bytes_ -= block.capacity;
    return block;
  }
  return {nullptr, 0};
}

void BufferPool::Give(Block block) noexcept {
  std::array<Block, kMostBlocks> old;
  size_t n = 0;  // the oldest make room
  {
    const std::lock_guard lock(mutex_);
    if (block.capacity <= most_bytes_) {
      while (bytes_ + block.capacity > most_bytes_ || blocks_.size() - n >= kMostBlocks) {
        bytes_ -= blocks_[n].capacity;
        old[n] = blocks_[n];
        ++n;
      }
      blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<ptrdiff_t>(n));
      blocks_.push_back(block);
      bytes_ += block.capacity;
      block.data = nullptr;
    }
  }
  std::free(block.data);
  for (const Block& gone : std::span(old).first(n)) std::free(gone.data);
}

}  // namespace wasinn::core
