#include "core/memory/copy.h"

#include <cstring>

namespace wasinn::core {

void CopyTensorBytes(std::span<uint8_t> to, std::span<const uint8_t> from, CopyCount& count) {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
  CountOne(count.copies);
  CountOne(count.bytes, from.size());
}

}  // namespace wasinn::core
