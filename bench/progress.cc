#include "bench/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "settings/text.h"

namespace wasinn::bench {
namespace {

constexpr size_t kBar = 20;

}  // namespace

Progress::Progress(size_t steps) : shown_(::isatty(STDERR_FILENO) == 1), steps_(std::max<size_t>(steps, 1)) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

void Progress::Begin(const std::string& step) {
  if (!shown_) return;
  const size_t filled = std::min(kBar, kBar * done_ / steps_);
  fmt::print(stderr, "\r\033[K[{:<{}}] {}/{} {}", std::string(filled, '#'), kBar, ++done_, steps_,
             settings::Printable(step));
  std::fflush(stderr);
}

}  // namespace wasinn::bench
