// A file's bytes, read where they are.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <filesystem>
#include <span>

#include "base/descriptor.h"

namespace wasinn::backend {

class MappedFile {
 public:
  // Without bytes where it has none, is no regular file, or cannot be mapped: then errno says why.
  explicit MappedFile(const std::filesystem::path& path) {
    const base::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat its = {};
    if (!file.is_open() || fstat(file.number(), &its) != 0 || !S_ISREG(its.st_mode) || its.st_size <= 0) return;
    void* mapped = mmap(nullptr, static_cast<size_t>(its.st_size), PROT_READ, MAP_PRIVATE, file.number(), 0);
    if (mapped != MAP_FAILED) bytes_ = {static_cast<uint8_t*>(mapped), static_cast<size_t>(its.st_size)};
  }
  ~MappedFile() {
    if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // To be read only.
  std::span<uint8_t> bytes() const { return bytes_; }

 private:
  std::span<uint8_t> bytes_;
};

}  // namespace wasinn::backend
