// The linear memories of a program, and the share of the limit for each.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engines/engine.h"

namespace wasinn::engines {

struct MemoryType {
  uint64_t min = 0, max = UINT64_MAX;  // bytes
  bool shared = false;
};

// The memories of a module, or of all modules in a component. If there are more than any engine accepts, the last one
// is shared and over every limit. Bytes that are not well-formed have none.
std::vector<MemoryType> MemoriesOf(std::string_view wasm);

// The part of max_memory_bytes for all tables of a program together.
inline uint64_t ShareOfTables(uint64_t limit) { return limit / 4; }

// The limit for each of a program's memories, so that all of them together keep to max_memory_bytes; UINT64_MAX: none.
// An error if one would be larger from the beginning, or is shared and may grow beyond it: an engine does not ask the
// host before that grows.
Result<uint64_t> ShareOfMemory(const std::vector<MemoryType>& memories, uint64_t limit);

// For a host that goes on after its programs: an error if one of a program's memories is shared. A guest can wait there
// for a change (memory.atomic.wait), even alone, and no engine ends that.
Result<void> CheckNoneIsShared(const std::vector<MemoryType>& memories);

}  // namespace wasinn::engines
