#include "no_memory.h"

#include <climits>
#include <cstdlib>

namespace {

thread_local int left = INT_MAX;

}  // namespace

void* operator new(size_t bytes) {
  if (left != INT_MAX && left-- <= 0) throw std::bad_alloc();
  void* block = std::malloc(bytes == 0 ? 1 : bytes);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }

namespace wasinn::testing {

NoMemory::NoMemory(int allowed) { left = allowed; }
NoMemory::~NoMemory() { left = INT_MAX; }

}  // namespace wasinn::testing
