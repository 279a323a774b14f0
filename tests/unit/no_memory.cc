#include "no_memory.h"

#include <atomic>
#include <cstdlib>

namespace {

thread_local int left = INT_MAX, to_fail = 0, failed_so_far = 0;
std::atomic<int64_t> live{0};

bool MayAllocate() {
  if (left == INT_MAX) return true;
  if (left > 0) {
    --left;
    return true;
  }
  if (to_fail == 0) return true;
  --to_fail;
  ++failed_so_far;
  return false;
}

void* Allocate(size_t bytes, size_t alignment) {
  if (!MayAllocate()) return nullptr;
  const size_t whole = (bytes + alignment) / alignment * alignment;  // at least one
  void* block = alignment > alignof(max_align_t) ? std::aligned_alloc(alignment, whole) : std::malloc(whole);
  if (block != nullptr) live.fetch_add(1, std::memory_order_relaxed);
  return block;
}

void* AllocateOrThrow(size_t bytes, size_t alignment) {
  void* block = Allocate(bytes, alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void Free(void* block) {
  if (block != nullptr) live.fetch_sub(1, std::memory_order_relaxed);
  std::free(block);
}

}  // namespace

void* operator new(size_t bytes) { return AllocateOrThrow(bytes, 1); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return AllocateOrThrow(bytes, static_cast<size_t>(alignment));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return Allocate(bytes, 1); }
void operator delete(void* block) noexcept { Free(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { Free(block); }
void operator delete(void* block, size_t) noexcept { Free(block); }
void operator delete(void* block, std::align_val_t) noexcept { Free(block); }
void operator delete(void* block, size_t, std::align_val_t) noexcept { Free(block); }

namespace wasinn::testing {

NoMemory::NoMemory(int allowed, int failures) {
  left = allowed;
  to_fail = failures;
  failed_so_far = 0;
}
NoMemory::~NoMemory() { left = INT_MAX; }
int NoMemory::failed() { return failed_so_far; }

int64_t LiveBlocks() { return live.load(std::memory_order_relaxed); }

}  // namespace wasinn::testing
