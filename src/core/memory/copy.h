// The one function that copies tensor bytes between guest memory and a framework's memory, and counts what it copies.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

namespace wasinn::core {

// For a counter that one thread at a time raises, while others may read it.
inline void CountOne(std::atomic<uint64_t>& counter, uint64_t more = 1) {
  counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

// Raised by one thread at a time.
struct CopyCount {
  std::atomic<uint64_t> copies{0};
  std::atomic<uint64_t> bytes{0};
};

// `to` and `from` have the same size. Guest memory may be written by other guest threads meanwhile: what arrives is
// then some mix of old and new bytes, which is the guest's own affair, so whoever needs to check bytes checks the copy.
void CopyTensorBytes(std::span<uint8_t> to, std::span<const uint8_t> from, CopyCount& count);

}  // namespace wasinn::core
