// Memory for what lives during one call, most often without malloc: lists are as long as a guest or a model makes them,
// and short nearly always.
#pragma once

#include <cstddef>
#include <memory_resource>

namespace wasinn::core {

struct ScratchMemory {
  alignas(std::max_align_t) std::byte bytes[1024];
  std::pmr::monotonic_buffer_resource resource{bytes, sizeof bytes};
};

}  // namespace wasinn::core
