#include "core/memory/guest_memory.h"

namespace wasinn::core {

// An unknown flag may mean that other threads write there, too.
bool GuestMemory::IsUnshared() const { return exists() && view_.flags == 0; }

bool GuestMemory::IsReadable(std::span<const uint8_t> bytes, size_t align) const {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % align != 0) return false;
  const auto end = static_cast<uint64_t>(bytes.data() - base_) + bytes.size();
  return size_ - end >= WASINN_TENSOR_TAIL;
}

Status OutOfRange(const char* what, uint32_t address, uint64_t size) {
  return Error(WASINN_ERROR_INVALID_ARGUMENT, "{} at {:#x}, {} bytes, is outside of the guest's memory", what, address,
               size);
}

}  // namespace wasinn::core
