#include "serve/end_signals.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <system_error>

namespace wasinn::serve {
namespace {

constexpr int kSignals[] = {SIGTERM, SIGINT, SIGHUP};

// A handler can only use globals. Two handlers may run at once, each on a thread of its own.
int told_at = -1;
std::atomic<bool> is_serving{false}, is_told{false}, is_reload_told{false};

void HandleAll(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  for (const int signal : kSignals) ::sigaction(signal, &action, nullptr);
}

void Tell(int signal) {
  if (signal == SIGHUP) {
    is_reload_told.store(true);
  } else if (!is_serving.load() || is_told.exchange(true)) {
    ::_exit(128 + signal);
  }
  const int error = errno;
  const uint64_t one = 1;
  (void)!::write(told_at, &one, sizeof one);
  errno = error;
}

}  // namespace

EndSignals::EndSignals() {
  told_at = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (told_at < 0) throw std::system_error(errno, std::system_category(), "eventfd");
  is_serving = is_told = is_reload_told = false;
  HandleAll(Tell);
}

EndSignals::~EndSignals() {
  HandleAll(SIG_DFL);
  ::close(told_at);
}

void EndSignals::Serving() { is_serving = true; }

int EndSignals::descriptor() const { return told_at; }

EndSignals::Told EndSignals::Take() {
  uint64_t n = 0;
  (void)!::read(told_at, &n, sizeof n);  // first: later signals make it readable again
  return {is_told.load(), is_reload_told.exchange(false)};
}

}  // namespace wasinn::serve
