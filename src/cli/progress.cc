#include "cli/progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <system_error>

#include "settings/text.h"

namespace wasinn::cli {
namespace {

// Begins the line again, and clears it.
constexpr char kLine[] = "\r\x1b[2K";

}  // namespace

Progress::Progress(const std::string& what) : what_(settings::Printable(what)) {
  if (isatty(STDERR_FILENO) == 0) return;
  try {
    thread_ = std::thread([this] { Show(); });
  } catch (const std::system_error&) {
    thread_ = std::thread();  // reports nothing
  }
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Progress::Show() {
  std::unique_lock lock(mutex_);
  unsigned seconds = 0;
  while (!changed_.wait_for(lock, std::chrono::seconds(1), [this] { return over_; })) {
    std::fprintf(stderr, "%s%s, %u s", kLine, what_.c_str(), ++seconds);
    std::fflush(stderr);
  }
  if (seconds > 0) std::fputs(kLine, stderr);
}

}  // namespace wasinn::cli
