// The only way to a guest's linear memory: ranges are checked, and no pointer of the guest is trusted or kept.
#pragma once

#include <wasinn/engine.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "core/status.h"

namespace wasinn::core {

// The memory of the calling instance, during that call.
class GuestMemory {
 public:
  // If struct_size does not reach the end of `size`, the memory has no known bytes.
  explicit GuestMemory(const wasinn_memory& memory)
      : view_(memory),
        base_(memory.struct_size >= offsetof(wasinn_memory, size) + sizeof memory.size ? memory.base : nullptr),
        size_(base_ == nullptr ? 0 : memory.size) {}

  // False: the module exports no memory.
  bool exists() const { return base_ != nullptr; }

  // `count` elements of `element_size` bytes at `address`; no value if any of it is outside. Both are at most 32 bits
  // times a small size, so their product does not overflow 64 bits.
  std::optional<std::span<uint8_t>> Range(uint32_t address, uint32_t count, uint32_t element_size = 1) const {
    const uint64_t bytes = uint64_t{count} * element_size;
    if (!exists() || address > size_ || bytes > size_ - address) return std::nullopt;
    return std::span<uint8_t>(base_ + address, bytes);
  }

  // Loads and stores by memcpy: an address may be unaligned. Values are little-endian, as in WebAssembly.
  template <typename T>
  std::optional<T> Load(uint32_t address) const {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto range = Range(address, sizeof(T));
    if (!range) return std::nullopt;
    T value;
    std::memcpy(&value, range->data(), sizeof(T));
    return value;
  }
  template <typename T>
  [[nodiscard]] bool Store(uint32_t address, const T& value) const {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto range = Range(address, sizeof(T));
    if (!range) return false;
    std::memcpy(range->data(), &value, sizeof(T));
    return true;
  }

  // Whether only the calling thread can write it, as far as the engine reports that: an unknown flag may mean that other
  // threads write there, too.
  bool IsUnshared() const { return exists() && view_.flags == 0; }
  // Whether a framework may read bytes of this memory in place: the address must be aligned, and reading some bytes
  // past the end must stay inside of the memory. `align` is a power of two.
  bool IsReadable(std::span<const uint8_t> bytes, size_t align) const {
    const auto end = static_cast<uint64_t>(bytes.data() - base_) + bytes.size();
    return reinterpret_cast<uintptr_t>(bytes.data()) % align == 0 && size_ - end >= WASINN_TENSOR_TAIL;
  }

 private:
  const wasinn_memory& view_;
  uint8_t* const base_;
  const uint64_t size_;
};

inline Status OutOfRange(const char* what, uint32_t address, uint64_t size) {
  return Error(WASINN_ERROR_INVALID_ARGUMENT, "{} at {:#x}, {} bytes, is outside of the guest's memory", what, address,
               size);
}

}  // namespace wasinn::core
