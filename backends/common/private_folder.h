// A folder that only this user can read or change.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/descriptor.h"
#include "common/throw.h"

namespace wasinn::backend {

// Whether no other user may use the file or folder.
inline bool IsMineAlone(const base::Descriptor& file) {
  struct stat its = {};
  return fstat(file.number(), &its) == 0 && its.st_uid == geteuid() && (its.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

// Creates it with its parents if it is missing. Throws Error that names it if that fails, or if other users may access
// it.
inline base::Descriptor OpenPrivateFolder(const std::filesystem::path& path) {
  const auto fail = [](const char* what, const std::filesystem::path& folder) {
    Throw(WASINN_ERROR_RUNTIME, "cannot {} the folder {}: {}", what, folder.string(), std::strerror(errno));
  };
  std::filesystem::path made;
  for (const std::filesystem::path& part : path) {
    made /= part;
    if (mkdir(made.c_str(), 0700) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES) fail("make", made);
  }
  base::Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.is_open()) fail("open", path);
  if (IsMineAlone(folder)) return folder;
  Throw(WASINN_ERROR_SECURITY, "{} must be this user's own, and closed to all others (mode 0700)", path.string());
}

}  // namespace wasinn::backend
