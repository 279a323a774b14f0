#include "core/lent_input.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>

#include "core/buffer_pool.h"

namespace wasinn::core {

bool IsLendable(const wasinn_memory& memory) {
  if (memory.struct_size < offsetof(wasinn_memory, id) + sizeof memory.id) return false;  // of an older adapter
  if ((memory.flags & WASINN_MEMORY_SHARED) != 0) return false;
  return memory.base != nullptr && (memory.id[0] != 0 || memory.id[1] != 0);
}

std::optional<std::span<const uint8_t>> FindLentBytes(const LentInput& input, const wasinn_memory& memory) {
  if (!IsLendable(memory) || !std::equal(std::begin(input.memory), std::end(input.memory), memory.id)) {
    return std::nullopt;
  }
  if (input.offset > memory.size || input.size > memory.size - input.offset) return std::nullopt;
  return std::span<const uint8_t>(memory.base + input.offset, input.size);
}

bool IsReadable(std::span<const uint8_t> bytes, size_t align, const wasinn_memory& memory) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % align != 0) return false;
  const auto end = static_cast<uint64_t>(bytes.data() - memory.base) + bytes.size();
  return memory.size - end >= BufferPool::kTail;
}

bool LiesIn(const wasinn_memory& memory, const void* data) {
  const auto* address = static_cast<const uint8_t*>(data);
  return std::greater_equal<>()(address, memory.base) && std::less<>()(address, memory.base + memory.size);
}

}  // namespace wasinn::core
