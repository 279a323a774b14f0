#include "onnx/call_scope.h"

#include <cstdlib>

namespace wasinn::onnx {

namespace {

thread_local const CallScope::Subject* current = nullptr;

}  // namespace

BlockCache::BlockCache(size_t max_bytes) : max_bytes_(max_bytes) { entries_.reserve(kMaxBlocks); }

void* BlockCache::Take(size_t bytes, size_t* capacity) {
  if (bytes < kSmallest) return nullptr;
  std::lock_guard lock(mutex_);
  for (size_t i = entries_.size(); i-- > 0;) {
    const Entry entry = entries_[i];
    if (entry.capacity < bytes || entry.capacity - bytes > bytes / 4) continue;
    entries_.erase(entries_.begin() + static_cast<ptrdiff_t>(i));
    bytes_ -= entry.capacity;
    *capacity = entry.capacity;
    return entry.block;
  }
  return nullptr;
}

bool BlockCache::Give(void* block, size_t capacity) {
  if (capacity < kSmallest || capacity > max_bytes_) return false;
  std::unique_lock lock(mutex_);
  while (entries_.size() == kMaxBlocks || bytes_ + capacity > max_bytes_) {
    const Entry oldest = entries_.front();
    entries_.erase(entries_.begin());
    bytes_ -= oldest.capacity;
    lock.unlock();
    std::free(oldest.block);  // may take milliseconds
    lock.lock();
  }
  entries_.push_back({block, capacity});
  bytes_ += capacity;
  return true;
}

CallScope::CallScope(const Subject& subject) : subject_(subject), outer_(current) { current = &subject_; }

CallScope::~CallScope() { current = outer_; }

const CallScope::Subject* CallScope::Current() { return current; }

}  // namespace wasinn::onnx
