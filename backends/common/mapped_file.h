// A file's bytes, read in place.
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
  // No bytes if it is empty, no regular file, or cannot be mapped: then errno has the reason.
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

  // Only for reading.
  std::span<uint8_t> bytes() const { return bytes_; }

 private:
  std::span<uint8_t> bytes_;
};

}  // namespace wasinn::backend
