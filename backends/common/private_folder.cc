#include "common/private_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "common/error.h"

namespace wasinn::backend {
namespace {

[[noreturn]] void Fail(const char* what, const std::filesystem::path& path) {
  throw Error(WASINN_ERROR_RUNTIME,
              fmt::format("cannot {} the folder {}: {}", what, path.string(), std::strerror(errno)));
}

}  // namespace

bool IsMineAlone(int descriptor) {
  struct stat its = {};
  return fstat(descriptor, &its) == 0 && its.st_uid == geteuid() && (its.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

int OpenPrivateFolder(const std::string& path) {
  std::filesystem::path made;
  for (const std::filesystem::path& part : std::filesystem::path(path)) {
    made /= part;
    if (mkdir(made.c_str(), 0700) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES) Fail("make", made);
  }
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) Fail("open", path);
  if (IsMineAlone(folder)) return folder;
  close(folder);
  throw Error(WASINN_ERROR_SECURITY, path + " must be this user's own, and closed to all others (mode 0700)");
}

}  // namespace wasinn::backend
