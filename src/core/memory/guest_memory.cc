#include "core/memory/guest_memory.h"

#include <algorithm>
#include <iterator>

namespace wasinn::core {

// A flag that this version does not know may mean that others write there, too.
bool GuestMemory::IsUnshared() const { return exists() && view_.flags == 0; }

bool GuestMemory::IsKnownAndUnshared() const {
  if (view_.struct_size < offsetof(wasinn_memory, id) + sizeof view_.id) return false;  // of an older adapter
  return IsUnshared() && (view_.id[0] != 0 || view_.id[1] != 0);
}

GuestPlace GuestMemory::PlaceOf(std::span<const uint8_t> bytes) const {
  GuestPlace place{.memory = {}, .offset = static_cast<uint64_t>(bytes.data() - base_), .size = bytes.size()};
  std::copy_n(view_.id, std::size(view_.id), place.memory);
  return place;
}

std::optional<std::span<const uint8_t>> GuestMemory::At(const GuestPlace& place) const {
  if (!IsKnownAndUnshared() || !std::equal(std::begin(place.memory), std::end(place.memory), view_.id)) {
    return std::nullopt;
  }
  if (place.offset > size_ || place.size > size_ - place.offset) return std::nullopt;
  return std::span<const uint8_t>(base_ + place.offset, place.size);
}

bool GuestMemory::IsReadable(std::span<const uint8_t> bytes, size_t align) const {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % align != 0) return false;
  const auto end = static_cast<uint64_t>(bytes.data() - base_) + bytes.size();
  return size_ - end >= WASINN_TENSOR_TAIL;
}

Status OutOfRange(const char* what, uint32_t address, uint64_t size) {
  return Error(WASINN_INVALID_ARGUMENT, "{} at {:#x}, {} bytes, is outside of the guest's memory", what, address, size);
}

}  // namespace wasinn::core
