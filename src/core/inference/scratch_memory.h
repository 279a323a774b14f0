// Memory for lists that live during one call, usually without malloc: guests and models decide how long the lists are,
// and nearly all are short.
#pragma once

#include <cstddef>
#include <memory_resource>

namespace wasinn::core {

struct ScratchMemory {
  alignas(std::max_align_t) std::byte bytes[1024];
  std::pmr::monotonic_buffer_resource resource{bytes, sizeof bytes};
};

}  // namespace wasinn::core
