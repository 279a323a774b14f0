#include "common/stderr_capture.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace wasinn::backend {

namespace {

bool PutAt(int descriptor, int place) {
  int result = -1;
  do {
    result = dup2(descriptor, place);
  } while (result < 0 && (errno == EINTR || errno == EBUSY));
  return result >= 0;
}

bool IsSameFile(int one, int other) {
  struct stat a = {}, b = {};
  return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

std::string ReadAll(int file) {
  std::string text(static_cast<size_t>(std::max<off_t>(lseek(file, 0, SEEK_END), 0)), '\0');
  const ssize_t got = pread(file, text.data(), text.size(), 0);
  text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

}  // namespace

StderrCapture::StderrCapture(IsOwn is_own) : is_own_(is_own) {
  // Without a stderr, the next opened file would become it.
  if (fcntl(STDERR_FILENO, F_GETFD) < 0 || !turn_.Take("/proc/self")) return;
  std::fflush(stderr);
  // Appending, as several threads may write.
  if (memory_.Open(memfd_create("stderr", MFD_CLOEXEC)) && fcntl(memory_.number(), F_SETFL, O_APPEND) == 0 &&
      stderr_.Open(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) && PutAt(memory_.number(), STDERR_FILENO)) {
    return;
  }
  stderr_.Close();
  memory_.Close();
  turn_.End();
}

std::string StderrCapture::Finish() {
  if (!stderr_.is_open()) return {};
  std::fflush(stderr);
  // If the program has set another stderr in the meantime, it keeps that one.
  if (IsSameFile(memory_.number(), STDERR_FILENO)) PutAt(stderr_.number(), STDERR_FILENO);
  stderr_.Close();
  const std::string text = ReadAll(memory_.number());
  memory_.Close();
  std::string own, others;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = std::string_view(text).substr(at, end - at);
    (is_own_(line) ? own : others) += line;
    at = end;
  }
  base::WriteAll(STDERR_FILENO, others);
  turn_.End();
  return own;
}

}  // namespace wasinn::backend
