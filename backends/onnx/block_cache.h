// Large blocks of memory that are kept for the next run.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

namespace wasinn::onnx {

// A model's intermediate values have the same sizes in every run. The C library gives large blocks back to the system,
// so that each run would pay for its page faults again: 3 times the time of a model whose values are 64 MiB. One cache
// serves all models of a host, bounded, so that models which lie idle hold nothing.
//
// Any thread.
class BlockCache {
 public:
  // Smaller blocks are left to the C library, which is as fast.
  static constexpr size_t kSmallest = 256 << 10;
  static constexpr size_t kMostBlocks = 64;

  explicit BlockCache(size_t max_bytes);
  ~BlockCache();
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  // A block of at least `bytes`, and not much more; its size is stored in *capacity. NULL if there is none.
  void* Take(size_t bytes, size_t* capacity);
  // Keeps a block of malloc's family; false if it is the caller's to free. The oldest blocks make room.
  bool Give(void* block, size_t capacity);

 private:
  struct Entry {
    void* block;
    size_t capacity;
  };

  const size_t max_bytes_;
  std::mutex mutex_;
  std::vector<Entry> entries_;  // oldest first; never grows beyond what was reserved
  size_t bytes_ = 0;
};

}  // namespace wasinn::onnx
