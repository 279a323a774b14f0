#include "engines/memories.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "engines/wasm_file.h"
#include "engines/wasm_reader.h"
#include "engines/wasm_sections.h"

namespace wasinn::engines {
namespace {

constexpr uint8_t kHasMax = 1, kShared = 2, kPageSize = 8;  // flags of a memory
constexpr size_t kMaxMemories = 20'000;                     // Wasmtime allows 10,000 at most for one program
constexpr unsigned kUsualPage = 16, kMaxPage = 63;          // powers of two

uint64_t Bytes(uint64_t pages, unsigned page) {
  return pages > std::numeric_limits<uint64_t>::max() >> page ? UINT64_MAX : pages << page;
}

MemoryType NextMemory(Reader& reader) {
  const uint8_t flags = reader.Byte();
  const uint64_t min = reader.Number();
  const uint64_t max = (flags & kHasMax) != 0 ? reader.Number() : UINT64_MAX;
  const uint64_t page = (flags & kPageSize) != 0 ? reader.Number() : kUsualPage;
  const unsigned shift = page > kMaxPage ? kMaxPage : static_cast<unsigned>(page);
  return {Bytes(min, shift), Bytes(max, shift), (flags & kShared) != 0};
}

// No engine accepts so many. The rest is not read, so the last one counts as unlimited.
bool AreTooMany(std::vector<MemoryType>& memories) {
  if (memories.size() < kMaxMemories) return false;
  if (memories.size() == kMaxMemories) memories.push_back({UINT64_MAX, UINT64_MAX, true});
  return true;
}

// Stops at an import of an unknown kind: no engine serves it, so the module does not run.
void AddImported(Reader& reader, std::vector<MemoryType>& memories) {
  for (uint64_t left = reader.Number(); left > 0 && reader.ok() && !AreTooMany(memories); --left) {
    reader.Name();
    reader.Name();
    switch (reader.Byte()) {
      case 0:  // a function
        reader.Number();
        break;
      case 2:
        memories.push_back(NextMemory(reader));
        break;
      case 3:  // a global
        reader.Bytes(2);
        break;
      default:
        return;
    }
  }
}

void AddDefined(Reader& reader, std::vector<MemoryType>& memories) {
  for (uint64_t left = reader.Number(); left > 0 && reader.ok() && !AreTooMany(memories); --left) {
    memories.push_back(NextMemory(reader));
  }
}

}  // namespace

std::vector<MemoryType> MemoriesOf(std::string_view wasm) {
  const bool is_program = KindOf(wasm) == WasmKind::kModule;  // imports inside a component are another module's
  std::vector<MemoryType> memories;
  EachCoreModule(wasm, [&](std::string_view module) {
    for (Reader reader(module.substr(kHeader)); reader.more();) {
      const Section section = NextSection(reader);
      if (!reader.ok()) return;
      Reader body(section.body);
      if (section.id == kMemories) AddDefined(body, memories);
      if (section.id == kImports && is_program) AddImported(body, memories);
    }
  });
  return memories;
}

Result<uint64_t> ShareOfMemory(const std::vector<MemoryType>& memories, uint64_t limit) {
  if (limit == UINT64_MAX || memories.empty()) return limit;
  const uint64_t each = limit / memories.size();
  const std::string whose =
      memories.size() == 1 ? "" : fmt::format(" for each of {} memories, of {} together", memories.size(), limit);
  for (const MemoryType& memory : memories) {
    if (memory.min <= each && (!memory.shared || memory.max <= each)) continue;
    return std::unexpected(fmt::format("{} of {} bytes, over the limit of {}{} (limits.max_memory_bytes)",
                                       memory.min > each
                                           ? "the program begins with a memory"
                                           : "the program has a shared memory, which may grow to its maximum",
                                       memory.min > each ? memory.min : memory.max, each, whose));
  }
  return each;
}

Result<void> CheckNoneIsShared(const std::vector<MemoryType>& memories) {
  if (std::ranges::none_of(memories, &MemoryType::shared)) return {};
  return std::unexpected(
      "the program has threads, or a shared memory as for threads, which only a command's program may have");
}

}  // namespace wasinn::engines
