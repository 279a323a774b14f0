// The linear memories that a program has, and how much each of them may have.
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

// Those of a module, or of all modules in a component. Of more than any engine takes, the last one is shared and over every limit.
// Bytes that are not well-formed say nothing.
std::vector<MemoryType> MemoriesOf(std::string_view wasm);

// The part of max_memory_bytes that all tables of a program may take together.
inline uint64_t ShareOfTables(uint64_t limit) { return limit / 4; }

// How much each of a program's memories may have, so that all of them together keep to a limit of max_memory_bytes;
// UINT64_MAX: nothing holds them. An error if one would have more from the beginning, or is shared and may grow to
// more: an engine asks nobody when that grows.
Result<uint64_t> ShareOfMemory(const std::vector<MemoryType>& memories, uint64_t limit);

// Of a host that goes on after its programs: an error if one of a program's memories is shared. A guest can wait there for a change
// (memory.atomic.wait), also alone, and no engine ends that.
Result<void> CheckNoneIsShared(const std::vector<MemoryType>& memories);

}  // namespace wasinn::engines
