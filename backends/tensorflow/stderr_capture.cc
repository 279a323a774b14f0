#include "tensorflow/stderr_capture.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <string_view>

namespace wasinn::tensorflow {

namespace {

std::mutex capturing;

// "I0000 00:00:1795275312.678284   20799 port.cc:153] oneDNN …", or the one line that comes before the first of those.
bool IsTensorFlows(std::string_view line) {
  constexpr std::string_view kBefore = "WARNING: All log messages before absl::InitializeLog()";
  if (line.starts_with(kBefore)) return true;
  return line.size() > 5 && std::string_view("IWE").find(line[0]) != std::string_view::npos &&
         std::ranges::all_of(line.substr(1, 4), [](char c) { return c >= '0' && c <= '9'; }) && line[5] == ' ' &&
         line.find(".cc:") != std::string_view::npos;
}

void WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

StderrCapture::StderrCapture() {
  capturing.lock();
  std::fflush(stderr);
  memory_ = memfd_create("stderr", MFD_CLOEXEC);
  // Appending, as several threads may write.
  if (memory_ >= 0) fcntl(memory_, F_SETFL, O_APPEND);
  stderr_ = memory_ < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  if (stderr_ >= 0 && dup2(memory_, STDERR_FILENO) >= 0) return;
  if (stderr_ >= 0) close(stderr_);
  if (memory_ >= 0) close(memory_);
  memory_ = stderr_ = -1;
}

std::string StderrCapture::Finish() {
  std::string own;
  if (stderr_ >= 0) {
    std::fflush(stderr);
    dup2(stderr_, STDERR_FILENO);
    std::string text(static_cast<size_t>(std::max<off_t>(lseek(memory_, 0, SEEK_END), 0)), '\0');
    const ssize_t got = pread(memory_, text.data(), text.size(), 0);
    text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
    std::string others;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
      const std::string_view line = std::string_view(text).substr(at, end - at);
      (IsTensorFlows(line) ? own : others) += line;
      at = end;
    }
    WriteAll(stderr_, others);
    close(stderr_);
    close(memory_);
    stderr_ = -1;
    memory_ = -2;
    capturing.unlock();
  } else if (memory_ == -1) {
    memory_ = -2;  // finished
    capturing.unlock();
  }
  return own;
}

}  // namespace wasinn::tensorflow
