#include "common/library.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/mapped_file.h"
#include "common/throw.h"

namespace wasinn::backend {

namespace {

namespace fs = std::filesystem;

// The libraries that a library needs.
struct Needs {
  std::vector<std::string> names;  // DT_NEEDED
  std::vector<std::string> paths;  // DT_RPATH and DT_RUNPATH: folders, separated by colons
};

// No value if the file is no library for this machine.
class ElfReader {
 public:
  explicit ElfReader(const fs::path& path)
      : file_(path), bytes_(reinterpret_cast<const char*>(file_.bytes().data()), file_.bytes().size()) {
    const auto header = At<ElfW(Ehdr)>(0);
    constexpr auto kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != kClass) return;
    for (unsigned i = 0; i < header->e_phnum; ++i) {
      if (const auto segment = At<ElfW(Phdr)>(header->e_phoff + uint64_t{i} * sizeof(ElfW(Phdr)))) {
        segments_.push_back(*segment);
      }
    }
  }

  Needs Read() const {
    Needs needs;
    uint64_t strings = 0;
    EachEntry([&](const ElfW(Dyn) & entry) {
      if (entry.d_tag == DT_STRTAB) strings = OffsetOf(entry.d_un.d_ptr);
    });
    EachEntry([&](const ElfW(Dyn) & entry) {
      if (entry.d_tag == DT_NEEDED) needs.names.push_back(TextAt(strings + entry.d_un.d_val));
      if (entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH) {
        needs.paths.push_back(TextAt(strings + entry.d_un.d_val));
      }
    });
    return needs;
  }

 private:
  // No value outside of the file.
  template <typename T>
  std::optional<T> At(uint64_t offset) const {
    if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  std::string TextAt(uint64_t offset) const {
    if (offset >= bytes_.size()) return "";
    const std::string_view rest = bytes_.substr(offset);
    return std::string(rest.substr(0, rest.find('\0')));
  }
  template <typename F>
  void EachEntry(F&& function) const {
    for (const ElfW(Phdr) & segment : segments_) {
      if (segment.p_type != PT_DYNAMIC) continue;
      for (uint64_t at = 0; at + sizeof(ElfW(Dyn)) <= segment.p_filesz; at += sizeof(ElfW(Dyn))) {
        const auto entry = At<ElfW(Dyn)>(segment.p_offset + at);
        if (!entry || entry->d_tag == DT_NULL) break;
        function(*entry);
      }
    }
  }
  // The offset of an address in the file.
  uint64_t OffsetOf(uint64_t address) const {
    for (const ElfW(Phdr) & segment : segments_) {
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) {
        return segment.p_offset + (address - segment.p_vaddr);
      }
    }
    return UINT64_MAX;
  }

  const MappedFile file_;
  const std::string_view bytes_;
  std::vector<ElfW(Phdr)> segments_;
};

// "$ORIGIN" is the folder of the library itself.
std::string WithOrigin(std::string text, const fs::path& origin) {
  for (const std::string_view word : {"$ORIGIN", "${ORIGIN}"}) {
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word)) {
      text.replace(at, word.size(), origin.string());
    }
  }
  return text;
}

class Checker {
 public:
  void Check(const fs::path& library) {
    std::error_code failed;
    const fs::path file = fs::canonical(library, failed);
    if (failed || !seen_.insert(file).second) return;
    const Needs needs = ElfReader(file).Read();
    std::vector<fs::path> folders;
    for (const std::string& path : needs.paths) {
      if (!path.empty()) AddFolders(file, path, &folders);
    }
    for (const std::string& name : needs.names) {
      if (name.contains('/')) {
        CheckNeeded(file, name);
        continue;
      }
      // A library that is elsewhere is the system's.
      for (const fs::path& folder : folders) Check(folder / name);
    }
  }

 private:
  static void AddFolders(const fs::path& file, std::string_view path, std::vector<fs::path>* folders) {
    for (size_t at = 0; at <= path.size();) {
      const size_t end = std::min(path.find(':', at), path.size());
      const fs::path folder = WithOrigin(std::string(path.substr(at, end - at)), file.parent_path());
      if (!folder.is_absolute()) {
        Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
              "'{}' is not opened: its RUNPATH '{}' has the dynamic linker look in the working folder, where a guest "
              "may have put something; \"patchelf --set-rpath '$ORIGIN' {}\" fixes it",
              file.string(), path, file.string());
      }
      folders->push_back(folder);
      at = end + 1;
    }
  }

  static void CheckNeeded(const fs::path& file, const std::string& name) {
    if (fs::path(WithOrigin(name, file.parent_path())).is_absolute()) return;
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
          "'{}' is not opened: it needs '{}', which is a path from the working folder, where a guest may have put "
          "something",
          file.string(), name);
  }

  std::set<fs::path> seen_;
};

}  // namespace

void CheckDependencies(const fs::path& library) { Checker().Check(library); }

}  // namespace wasinn::backend
