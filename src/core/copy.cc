#include "core/copy.h"

#include <cstring>

namespace wasinn::core {

void CopyTensorBytes(std::span<uint8_t> to, std::span<const uint8_t> from, CopyCount& count) {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
  count.copies.fetch_add(1, std::memory_order_relaxed);
  count.bytes.fetch_add(from.size(), std::memory_order_relaxed);
}

}  // namespace wasinn::core
