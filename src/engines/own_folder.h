// Folders in which this program keeps its files: no other user may read or change them.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <expected>
#include <filesystem>
#include <string>
#include <utility>

namespace wasinn::engines {

// An open file or folder.
class OpenFile {
 public:
  explicit OpenFile(int fd) : fd_(fd) {}
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  OpenFile(OpenFile&& other) noexcept : fd_(other.release()) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// Whether no other user may use it. `its`: its properties.
bool IsMineAlone(int fd, struct stat* its);

// $XDG_CACHE_HOME/NAME, or ~/.cache/NAME.
std::expected<std::filesystem::path, std::string> UsersCacheFolder(const char* name);

// Creates it with its parents, only for this user. An error names a folder that fails, or that others may use.
std::expected<OpenFile, std::string> OpenOwnFolder(const std::filesystem::path& path);

}  // namespace wasinn::engines
