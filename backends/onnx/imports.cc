#include "onnx/imports.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>

namespace wasinn::onnx {

namespace {

// NOLINTBEGIN(performance-no-int-to-ptr): the dynamic linker's addresses are numbers.

#if defined(__x86_64__)
constexpr uint32_t kJumpSlot = R_X86_64_JUMP_SLOT, kGlobalData = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr uint32_t kJumpSlot = R_AARCH64_JUMP_SLOT, kGlobalData = R_AARCH64_GLOB_DAT;
#else
constexpr uint32_t kJumpSlot = UINT32_MAX, kGlobalData = UINT32_MAX;  // nothing is found
#endif

// What the dynamic linker knows of a library.
struct Tables {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::span<const ElfW(Rela)> calls, data;
};

Tables TablesOf(const link_map& library) {
  // The C library has made absolute addresses of these on most processors.
  const auto at = [&library](ElfW(Addr) value) { return value < library.l_addr ? value + library.l_addr : value; };
  ElfW(Addr) calls = 0, data = 0;
  size_t calls_size = 0, data_size = 0;
  Tables tables;
  for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_SYMTAB:
        tables.symbols = reinterpret_cast<const ElfW(Sym)*>(at(entry->d_un.d_ptr));
        break;
      case DT_STRTAB:
        tables.names = reinterpret_cast<const char*>(at(entry->d_un.d_ptr));
        break;
      case DT_JMPREL:
        calls = at(entry->d_un.d_ptr);
        break;
      case DT_PLTRELSZ:
        calls_size = entry->d_un.d_val;
        break;
      case DT_RELA:
        data = at(entry->d_un.d_ptr);
        break;
      case DT_RELASZ:
        data_size = entry->d_un.d_val;
        break;
      default:
        break;
    }
  }
  tables.calls = {reinterpret_cast<const ElfW(Rela)*>(calls), calls_size / sizeof(ElfW(Rela))};
  tables.data = {reinterpret_cast<const ElfW(Rela)*>(data), data_size / sizeof(ElfW(Rela))};
  return tables;
}

// Makes the page of a slot writable for its life. After that it is again as the linker leaves it: read-only.
class Writable {
 public:
  Writable(void** slot, bool read_only_after) : read_only_after_(read_only_after) {
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    start_ = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(slot) & ~(page - 1));
    size_ = page;
    done_ = mprotect(start_, size_, PROT_READ | PROT_WRITE) == 0;
  }
  ~Writable() {
    if (done_ && read_only_after_) mprotect(start_, size_, PROT_READ);
  }
  Writable(const Writable&) = delete;
  Writable& operator=(const Writable&) = delete;

  bool done() const { return done_; }

 private:
  const bool read_only_after_;
  void* start_;
  size_t size_;
  bool done_;
};

// NOLINTEND(performance-no-int-to-ptr)

// What the linker made read-only once it had filled it in (RELRO).
struct ReadOnly {
  ElfW(Addr) library;
  uintptr_t start = 0, end = 0;

  static ReadOnly Of(const link_map& library) {
    ReadOnly found{library.l_addr};
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* arg) {
          auto* range = static_cast<ReadOnly*>(arg);
          if (info->dlpi_addr != range->library) return 0;
          for (const ElfW(Phdr) & header : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
            if (header.p_type != PT_GNU_RELRO) continue;
            range->start = info->dlpi_addr + header.p_vaddr;
            // As the C library does: the rest of the last page stays writable.
            range->end = (range->start + header.p_memsz) & ~(static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)) - 1);
          }
          return 1;
        },
        &found);
    return found;
  }
  bool Has(void** slot) const {
    const auto at = reinterpret_cast<uintptr_t>(slot);
    return at >= start && at < end;
  }
};

// Ends when `visit` answers false.
void ForEachSlot(const void* address, const char* name,
                 const std::function<bool(const link_map&, void** slot)>& visit) {
  Dl_info info = {};
  link_map* library = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) == 0 || library == nullptr) return;
  const Tables tables = TablesOf(*library);
  if (tables.symbols == nullptr || tables.names == nullptr) return;
  for (const auto& relocations : {tables.calls, tables.data}) {
    for (const ElfW(Rela) & relocation : relocations) {
      const auto type = static_cast<uint32_t>(ELF64_R_TYPE(relocation.r_info));
      if (type != kJumpSlot && type != kGlobalData) continue;
      const ElfW(Sym)& symbol = tables.symbols[ELF64_R_SYM(relocation.r_info)];
      if (std::strcmp(tables.names + symbol.st_name, name) != 0) continue;
      // NOLINTNEXTLINE(performance-no-int-to-ptr)
      if (!visit(*library, reinterpret_cast<void**>(library->l_addr + relocation.r_offset))) return;
    }
  }
}

}  // namespace

void* ReplaceImport(const void* address, const char* name, void* replacement) {
  void* before = nullptr;
  ForEachSlot(address, name, [&](const link_map& library, void** slot) {
    const Writable writable(slot, ReadOnly::Of(library).Has(slot));
    if (!writable.done()) {
      before = nullptr;
      return false;
    }
    void* const was = std::atomic_ref(*slot).exchange(replacement);
    if (was != replacement) before = was;
    return true;
  });
  return before;
}

void* ImportOf(const void* address, const char* name) {
  void* import = nullptr;
  ForEachSlot(address, name, [&import](const link_map&, void** slot) {
    import = std::atomic_ref(*slot).load();
    return false;
  });
  return import;
}

}  // namespace wasinn::onnx
