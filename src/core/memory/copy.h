// The one function that copies tensor bytes between guest memory and a framework's memory, and counts what it copies.
// Engines copy the outputs of components, which Guest::CountCopyOut counts.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>

namespace wasinn::core {

// Adds to a counter that has one writer at a time; others may read it. It takes no locked instruction.
inline void CountOne(std::atomic<uint64_t>& counter, uint64_t more = 1) {
  counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

// One thread at a time raises it.
struct CopyCount {
  std::atomic<uint64_t> copies{0};
  std::atomic<uint64_t> bytes{0};
};

// `to` and `from` have the same size. Other guest threads may write guest memory during the copy: the copy is then a
// mix of old and new bytes, which is the guest's problem. Code that checks bytes must check the copy.
inline void CopyTensorBytes(std::span<uint8_t> to, std::span<const uint8_t> from, CopyCount& count) {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
  CountOne(count.copies);
  CountOne(count.bytes, from.size());
}

}  // namespace wasinn::core
