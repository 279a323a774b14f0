// A thread's current operation inside ONNX Runtime, and its memory budget.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#include "common/log.h"

namespace wasinn::onnx {

// Thrown by the allocator and through ONNX Runtime, which turns it into a failed status. (Returning NULL would not
// work: kernels write to the result without checking it.)
class OverBudget : public std::bad_alloc {
 public:
  const char* what() const noexcept override { return "more memory than this model may use"; }
};

// One thread at a time. Blocks are charged when they are allocated within an operation, and refunded when they are
// freed within the same one.
class MemoryBudget {
 public:
  // `id` must differ from that of any operation whose blocks may still live; 0 is for blocks outside of operations.
  void Begin(uint64_t id, uint64_t limit) {
    id_ = id;
    limit_ = limit;
    used_ = 0;
    refused_ = 0;
  }

  void Charge(size_t bytes) {
    if (!TryCharge(bytes)) throw OverBudget();
  }

  bool TryCharge(size_t bytes) {
    if (bytes > limit_ - used_) {
      refused_ = bytes;
      return false;
    }
    used_ += bytes;
    return true;
  }

  void Refund(size_t bytes) { used_ -= bytes; }

  uint64_t id() const { return id_; }
  uint64_t limit() const { return limit_; }
  uint64_t used() const { return used_; }
  // The bytes of the allocation that was refused; 0 if none was.
  uint64_t refused() const { return refused_; }

 private:
  uint64_t id_ = 0;
  uint64_t limit_ = UINT64_MAX;
  uint64_t used_ = 0;
  uint64_t refused_ = 0;
};

// A model's intermediate values have the same sizes in every run. The C library gives large blocks back to the system,
// so each run would pay for its page faults again: 3 times the time of a model whose values have 64 MiB. One bounded
// cache serves all models of a host, so that idle models hold nothing.
//
// Thread-safe.
class BlockCache {
 public:
  // Smaller blocks are left to the C library, which is as fast.
  static constexpr size_t kSmallest = 256 << 10;
  static constexpr size_t kMaxBlocks = 64;

  explicit BlockCache(size_t max_bytes);
  ~BlockCache() {
    for (const Entry& entry : entries_) std::free(entry.block);
  }
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  // A block of at least `bytes`, and not much more; its size is stored in *capacity. NULL if there is none.
  void* Take(size_t bytes, size_t* capacity);
  // Keeps a block of malloc's family; false if the caller must free it. The oldest blocks make room.
  bool Give(void* block, size_t capacity);

 private:
  struct Entry {
    void* block;
    size_t capacity;
  };

  const size_t max_bytes_;
  std::mutex mutex_;
  std::vector<Entry> entries_;  // oldest first; never grows beyond its reserved size
  size_t bytes_ = 0;
};

// ONNX Runtime calls the allocator and the log function without a session: its environment is one for the whole OS
// process, and all hosts, models and contexts share both. It calls them on the thread that called it, so that thread
// has the answer. (Threads of its pool have no scope: memory that a kernel allocates there is not counted.)
class CallScope {
 public:
  struct Subject {
    const backend::Log* log = nullptr;
    MemoryBudget* budget = nullptr;
    BlockCache* cache = nullptr;
    // A cancelled operation ends at its next allocation, too: ONNX Runtime checks its terminate flag only before a
    // node, so never in a loop whose body has none left.
    const std::atomic<bool>* cancelled = nullptr;
  };

  explicit CallScope(const Subject& subject);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  // The subject of this thread's innermost scope; NULL outside of any.
  static const Subject* Current();

 private:
  const Subject subject_;
  const Subject* const outer_;
};

}  // namespace wasinn::onnx
