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
int wakes = -1;
std::atomic<bool> is_serving{false}, has_end{false}, has_reload{false};

void HandleAll(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  for (const int signal : kSignals) ::sigaction(signal, &action, nullptr);
}

void Note(int signal) {
  if (signal == SIGHUP) {
    has_reload.store(true);
  } else if (!is_serving.load() || has_end.exchange(true)) {
    ::_exit(128 + signal);
  }
  const int error = errno;
  const uint64_t one = 1;
  (void)!::write(wakes, &one, sizeof one);
  errno = error;
}

}  // namespace

EndSignals::EndSignals() {
  wakes = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wakes < 0) throw std::system_error(errno, std::system_category(), "eventfd");
  is_serving = has_end = has_reload = false;
  HandleAll(Note);
}

EndSignals::~EndSignals() {
  HandleAll(SIG_DFL);
  ::close(wakes);
}

void EndSignals::Serving() { is_serving = true; }

int EndSignals::descriptor() const { return wakes; }

EndSignals::Received EndSignals::Take() {
  uint64_t n = 0;
  (void)!::read(wakes, &n, sizeof n);  // first: later signals make it readable again
  return {has_end.load(), has_reload.exchange(false)};
}

}  // namespace wasinn::serve
