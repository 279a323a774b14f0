#include "tflite/quiet_stderr.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

namespace wasinn::tflite {

namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int get() const { return fd_; }

 private:
  const int fd_;
};

std::string ReadAll(int fd) {
  std::string text;
  char part[512];
  lseek(fd, 0, SEEK_SET);
  for (ssize_t n = read(fd, part, sizeof(part)); n > 0; n = read(fd, part, sizeof(part))) {
    text.append(part, static_cast<size_t>(n));
  }
  return text;
}

}  // namespace

void WithoutLine(std::string_view line, const std::function<void()>& action) {
  const FileDescriptor terminal(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
  const FileDescriptor caught(memfd_create("stderr", MFD_CLOEXEC));
  if (terminal.get() < 0 || caught.get() < 0 || dup2(caught.get(), STDERR_FILENO) < 0) return action();
  struct Restore {
    ~Restore() { dup2(terminal, STDERR_FILENO); }
    const int terminal;
  };
  {
    const Restore restore{terminal.get()};
    action();
  }
  std::string text = ReadAll(caught.get());
  const size_t at = text.find(line);
  if (at != std::string::npos) text.erase(at, line.size());
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t n = write(STDERR_FILENO, rest.data(), rest.size());
    if (n <= 0) return;
    rest.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace wasinn::tflite
