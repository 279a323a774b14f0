#include "no_memory.h"

#include <climits>
#include <cstdlib>

namespace {

thread_local int left = INT_MAX;

bool MayAllocate() {
  if (left == INT_MAX) return true;
  if (left == 0) return false;
  --left;
  return true;
}

}  // namespace

void* operator new(size_t bytes) {
  void* block = MayAllocate() ? std::malloc(bytes == 0 ? 1 : bytes) : nullptr;
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return MayAllocate() ? std::malloc(bytes == 0 ? 1 : bytes) : nullptr;
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }

namespace wasinn::testing {

NoMemory::NoMemory(int allowed) { left = allowed; }
NoMemory::~NoMemory() { left = INT_MAX; }

}  // namespace wasinn::testing
