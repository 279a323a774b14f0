// Memory of guests that need no Wasm: bytes between protected pages, so that one byte too far is a crash.
#pragma once

#include <wasinn/engine.h>

#include <cstddef>
#include <cstdint>

namespace wasinn::testing {

// `size` bytes that end where memory cannot be touched: no byte of the next 8 GiB can, which is as far as an address
// and a length of 32 bits reach, and no byte of the 4 GiB before. An odd size gives an odd base. Any size is cheap:
// pages come when they are written.
class PlainMemory {
 public:
  explicit PlainMemory(uint64_t size);
  ~PlainMemory();
  PlainMemory(const PlainMemory&) = delete;
  PlainMemory& operator=(const PlainMemory&) = delete;

  uint8_t* base() const { return base_; }
  uint64_t size() const { return size_; }
  // As an engine shows it to wasinn.
  wasinn_memory View(uint32_t flags = 0) const { return {sizeof(wasinn_memory), flags, base_, size_}; }
  // Whether nothing was written between the page's start and the base.
  bool SlackIsIntact() const;

 private:
  uint8_t* mapping_ = nullptr;
  uint8_t* pages_ = nullptr;  // the first that may be touched
  uint8_t* base_ = nullptr;
  const uint64_t size_;
};

// Memory that grows in place while it is used, as shared memory does. What is not yet memory cannot be touched.
class GrowingMemory {
 public:
  static constexpr size_t kPage = 64 << 10;
  explicit GrowingMemory(size_t max_pages);
  ~GrowingMemory();
  GrowingMemory(const GrowingMemory&) = delete;
  GrowingMemory& operator=(const GrowingMemory&) = delete;

  // The first so many pages become memory.
  void Grow(size_t pages);
  uint8_t* base() const { return base_; }

 private:
  uint8_t* base_ = nullptr;
  const size_t max_size_;
};

}  // namespace wasinn::testing
