#include "engines/own_folder.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace wasinn::engines {
namespace {

namespace fs = std::filesystem;

std::unexpected<std::string> CannotFolder(const char* what, const fs::path& path) {
  return std::unexpected(fmt::format("cannot {} the folder {}: {}", what, path.string(), std::strerror(errno)));
}

}  // namespace

bool IsMineAlone(int fd, struct stat* its) {
  return fstat(fd, its) == 0 && its->st_uid == geteuid() && (its->st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

std::expected<fs::path, std::string> UsersCacheFolder(const char* name) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && fs::path(cache).is_absolute()) return fs::path(cache) / name;
  const char* home = std::getenv("HOME");
  if (home != nullptr && fs::path(home).is_absolute()) return fs::path(home) / ".cache" / name;
  return std::unexpected("neither XDG_CACHE_HOME nor HOME names a folder");
}

std::expected<OpenFile, std::string> OpenOwnFolder(const fs::path& path) {
  fs::path made;
  for (const fs::path& part : path) {
    made /= part;
    if (mkdir(made.c_str(), 0700) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES) {
      return CannotFolder("make", made);
    }
  }
  OpenFile folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return CannotFolder("open", path);
  struct stat its = {};
  if (IsMineAlone(folder.get(), &its)) return folder;
  return std::unexpected(path.string() + " must be this user's own, and closed to all others (mode 0700)");
}

}  // namespace wasinn::engines
