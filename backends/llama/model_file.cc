#include "llama/model_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/throw.h"

namespace wasinn::llama {

using backend::Throw;

namespace {

[[noreturn]] void RefuseMemory(size_t size) {
  Throw(WASINN_ERROR_TOO_LARGE, "no memory for a model of {} bytes: {}", size, std::strerror(errno));
}

// Whether a file may have this size: a larger write raises a signal.
bool MayHold(size_t bytes) {
  rlimit most = {};
  return getrlimit(RLIMIT_FSIZE, &most) != 0 || bytes <= most.rlim_cur;
}

}  // namespace

FilePtr FileInMemory(const wasinn_builder& builder) {
  if (!MayHold(builder.size)) return {nullptr, std::fclose};
  const int fd = memfd_create("wasinn-model", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0 && errno == EPERM) return {nullptr, std::fclose};
  if (fd < 0) RefuseMemory(builder.size);
  for (size_t at = 0; at < builder.size;) {
    const ssize_t written = write(fd, builder.data + at, builder.size - at);
    if (written > 0) {
      at += static_cast<size_t>(written);
    } else if (errno != EINTR) {
      close(fd);
      RefuseMemory(builder.size);
    }
  }
  // Best effort: without seals, only this process has the file anyway.
  fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  FilePtr file(lseek(fd, 0, SEEK_SET) == 0 ? fdopen(fd, "rb") : nullptr, std::fclose);
  if (file == nullptr) {
    close(fd);
    RefuseMemory(builder.size);
  }
  return file;
}

FilePtr BytesAsFile(const wasinn_builder& builder) {
  FilePtr file(fmemopen(const_cast<uint8_t*>(builder.data), builder.size, "rb"), std::fclose);
  if (file == nullptr) RefuseMemory(builder.size);
  return file;
}

bool HasFile(const wasinn_builder& builder) {
  struct stat status = {};
  return builder.path != nullptr && stat(builder.path, &status) == 0 && S_ISREG(status.st_mode) &&
         static_cast<size_t>(status.st_size) == builder.size;
}

}  // namespace wasinn::llama
