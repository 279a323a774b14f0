#include "onnx/loaded_library.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace wasinn::onnx {

namespace {

// NOLINTBEGIN(performance-no-int-to-ptr): the dynamic linker's addresses are numbers.

constexpr size_t kNoteAlignment = 4;
size_t Aligned(size_t size) { return (size + kNoteAlignment - 1) / kNoteAlignment * kNoteAlignment; }

// What the linker computed of all that is in the library; empty: it did not.
std::string_view BuildIdOf(const dl_phdr_info& library) {
  for (const ElfW(Phdr) & segment : std::span(library.dlpi_phdr, library.dlpi_phnum)) {
    if (segment.p_type != PT_NOTE) continue;
    std::string_view notes(reinterpret_cast<const char*>(library.dlpi_addr + segment.p_vaddr), segment.p_memsz);
    while (notes.size() > sizeof(ElfW(Nhdr))) {
      ElfW(Nhdr) note;
      std::memcpy(&note, notes.data(), sizeof(note));
      const size_t contents = sizeof(note) + Aligned(note.n_namesz);
      const size_t size = contents + Aligned(note.n_descsz);
      if (size > notes.size()) break;
      const std::string_view name = notes.substr(sizeof(note), note.n_namesz);
      if (note.n_type == NT_GNU_BUILD_ID && name == std::string_view("GNU\0", 4)) {
        return notes.substr(contents, note.n_descsz);
      }
      notes.remove_prefix(size);
    }
  }
  return {};
}

struct Search {
  uintptr_t place;
  uintptr_t own = 0;  // where this library begins
  std::string_view id;
  const std::function<void(const void*)>* tell;
};

bool Has(const dl_phdr_info& library, uintptr_t address) {
  return std::ranges::any_of(std::span(library.dlpi_phdr, library.dlpi_phnum), [&](const ElfW(Phdr) & segment) {
    const uintptr_t start = library.dlpi_addr + segment.p_vaddr;
    return segment.p_type == PT_LOAD && address >= start && address - start < segment.p_memsz;
  });
}

int FindOwn(dl_phdr_info* library, size_t, void* arg) {
  auto* search = static_cast<Search*>(arg);
  if (!Has(*library, search->place)) return 0;
  search->own = library->dlpi_addr;
  search->id = BuildIdOf(*library);
  return 1;
}

// The linker lets no library go meanwhile.
int TellCopy(dl_phdr_info* library, size_t, void* arg) {
  const auto* search = static_cast<const Search*>(arg);
  if (library->dlpi_addr == search->own || BuildIdOf(*library) != search->id) return 0;
  const uintptr_t place = library->dlpi_addr + (search->place - search->own);
  if (Has(*library, place)) (*search->tell)(reinterpret_cast<const void*>(place));
  return 0;
}

// NOLINTEND(performance-no-int-to-ptr)

}  // namespace

void ForEachCopy(const void* place, const std::function<void(const void* place)>& tell) {
  Search search{.place = reinterpret_cast<uintptr_t>(place), .id = {}, .tell = &tell};
  if (dl_iterate_phdr(FindOwn, &search) == 0 || search.id.empty()) return;
  dl_iterate_phdr(TellCopy, &search);
}

}  // namespace wasinn::onnx
