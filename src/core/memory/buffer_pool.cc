#include "core/memory/buffer_pool.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "base/tensor_bytes.h"

namespace wasinn::core {

BufferPool::BufferPool(uint64_t guests_limit)
    : most_bytes_(static_cast<size_t>(std::min<uint64_t>(kMaxBytes, guests_limit / kPartOfLimit))) {
  blocks_.reserve(kMaxBlocks);
}

BufferPool::~BufferPool() {
  for (const Block& block : blocks_) std::free(block.data);
}

BufferPool::Buffer& BufferPool::Buffer::operator=(Buffer&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(data_, other.data_);
  std::swap(capacity_, other.capacity_);
  std::swap(use_, other.use_);
  return *this;
}

BufferPool::Buffer::~Buffer() {
  if (data_ != nullptr) pool_->Give({data_, capacity_, use_});
}

BufferPool::Buffer BufferPool::Take(uint64_t user, size_t bytes) {
  const Use use = {user, false};
  return Make(use, bytes, Find(base::PaddedSize(bytes), use));
}

BufferPool::Buffer BufferPool::TakeClean(uint64_t user, size_t bytes) {
  const Use use = {user, true};
  const Block block = Find(base::PaddedSize(bytes), use);
  Buffer buffer = Make(use, bytes, block);
  if (block.use.user != user) std::memset(buffer.data_, 0, bytes);
  return buffer;
}

// The tail behind the bytes is zeroed: once this user has written its bytes, nothing of an earlier user is left.
BufferPool::Buffer BufferPool::Make(Use use, size_t bytes, Block block) {
  if (block.data == nullptr) {
    block.capacity = base::PaddedSize(bytes);
    block.data = static_cast<uint8_t*>(std::aligned_alloc(WASINN_TENSOR_ALIGNMENT, block.capacity));
    if (block.data == nullptr) throw std::bad_alloc();
  }
  std::memset(block.data + bytes, 0, block.capacity - bytes);
  Buffer buffer;
  buffer.pool_ = shared_from_this();
  buffer.data_ = block.data;
  buffer.capacity_ = block.capacity;
  buffer.use_ = use;
  return buffer;
}

// A block with the same use, because a framework may have it bound for that; else the latest, because its bytes are
// likely in a cache. None that is larger, since its user is charged for the requested size.
BufferPool::Block BufferPool::Find(size_t capacity, Use use) {
  const std::lock_guard lock(mutex_);
  size_t found = blocks_.size();
  for (size_t i = blocks_.size(); i-- > 0;) {
    if (blocks_[i].capacity != capacity) continue;
    if (found == blocks_.size()) found = i;
    if (blocks_[i].use != use) continue;
    found = i;
    break;
  }
  if (found == blocks_.size()) return {nullptr, 0, {}};
  const Block block = blocks_[found];
  blocks_.erase(blocks_.begin() + static_cast<ptrdiff_t>(found));
  bytes_ -= block.capacity;
  return block;
}

void BufferPool::Give(Block block) noexcept {
  std::array<uint8_t*, kMaxBlocks> old;  // not zeroed: a component drops two tensors in each inference
  size_t n = 0;                          // the oldest make room
  {
    const std::lock_guard lock(mutex_);
    if (block.capacity <= most_bytes_) {
      while (bytes_ + block.capacity > most_bytes_ || blocks_.size() - n >= kMaxBlocks) {
        bytes_ -= blocks_[n].capacity;
        old[n] = blocks_[n].data;
        ++n;
      }
      blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<ptrdiff_t>(n));
      blocks_.push_back(block);
      bytes_ += block.capacity;
      block.data = nullptr;
    }
  }
  std::free(block.data);
  for (uint8_t* gone : std::span(old).first(n)) std::free(gone);
}

}  // namespace wasinn::core
