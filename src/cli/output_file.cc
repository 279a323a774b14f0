#include "cli/output_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/log.h"
#include "engines/trusted_file.h"

namespace wasinn::cli {

int OpenOutput(const std::string& path, const std::vector<engines::Directory>& guest_folders) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_CLOEXEC;
  constexpr mode_t kMode = 0666;
  if (!engines::FolderOfGuestsThatHas(path, guest_folders)) return open(path.c_str(), kFlags, kMode);
  open_how how = {.flags = kFlags, .mode = kMode, .resolve = RESOLVE_NO_SYMLINKS};
  return static_cast<int>(syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof(how)));
}

void Empty(int file) { [[maybe_unused]] const int ignored = ftruncate(file, 0); }

bool WriteAt(int file, std::string_view bytes, int64_t at) {
  while (!bytes.empty()) {
    ssize_t written = pwrite(file, bytes.data(), bytes.size(), at);
    if (written < 0 && errno == ESPIPE) written = write(file, bytes.data(), bytes.size());  // a pipe has no offsets
    if (written < 0 && errno != EINTR) return false;
    if (written <= 0) continue;
    bytes.remove_prefix(static_cast<size_t>(written));
    at += written;
  }
  return true;
}

bool ReportFile::Open(const std::string& path, const std::vector<engines::Directory>& guest_folders) {
  is_on_stderr_ = path == "-";
  file_ = is_on_stderr_ ? STDERR_FILENO : OpenOutput(path, guest_folders);
  return is_open();
}

ReportFile::~ReportFile() {
  if (is_open() && !is_on_stderr_) close(file_);
}

void ReportFile::Clear() {
  if (is_open() && !is_on_stderr_) Empty(file_);
}

void ReportFile::Write(std::string_view text, const char* what) {
  if (!is_open() || (is_on_stderr_ && is_written_)) return;
  is_written_ = true;
  if (!is_on_stderr_) Empty(file_);
  const bool written = is_on_stderr_ ? write(file_, text.data(), text.size()) == static_cast<ssize_t>(text.size())
                                     : WriteAt(file_, text, 0);
  if (!written) Log(WASINN_LOG_ERROR, (std::string("cannot write ") + what + ": " + std::strerror(errno)).c_str());
}

}  // namespace wasinn::cli
