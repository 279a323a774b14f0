#include "llama/thread_stderr.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace wasinn::llama {

namespace {

constexpr size_t kMaxTaken = 1024;

}  // namespace

ThreadStderr::ThreadStderr() {
  if (unshare(CLONE_FILES) != 0) return;
  memory_ = memfd_create("stderr", MFD_CLOEXEC);
  if (memory_ >= 0) dup2(memory_, STDERR_FILENO);
}

ThreadStderr::~ThreadStderr() {
  if (memory_ >= 0) close(memory_);
}

std::string ThreadStderr::Take() const {
  if (memory_ < 0) return "";
  std::string text(kMaxTaken, '\0');
  const ssize_t got = pread(memory_, text.data(), text.size(), 0);
  text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

}  // namespace wasinn::llama
