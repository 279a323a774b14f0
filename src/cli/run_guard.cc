#include "cli/run_guard.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "cli/log.h"

namespace wasinn::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};
constexpr uint8_t kEnd = 0, kOver = 1;  // messages besides signals' numbers; signals with these numbers are not caught

// All that a handler may use.
std::atomic<int> caught{0};
std::atomic<int> watcher_pipe{-1};
std::atomic<int> last_code{0};
std::atomic<bool> is_keeping{false};

void OnSignal(int number) {
  const int saved = errno;
  int none = 0;
  if (!caught.compare_exchange_strong(none, number)) _exit(128 + number);
  const auto what = static_cast<uint8_t>(number);
  (void)!write(watcher_pipe, &what, 1);
  errno = saved;
}

// Ends this process in kGrace, whatever its threads do. If the results are being written by then, a second later, so
// that a busy machine leaves no half of a file.
void EndSoon(int code) {
  last_code = code;
  struct sigaction action = {};
  action.sa_handler = [](int) {
    if (!is_keeping.exchange(false)) _exit(last_code);
    alarm(1);
  };
  sigaction(SIGALRM, &action, nullptr);
  const itimerval grace = {.it_interval = {}, .it_value = {.tv_sec = 0, .tv_usec = RunGuard::kGrace.count() * 1000}};
  setitimer(ITIMER_REAL, &grace, nullptr);
}

// An ignored signal stays ignored, as for commands in the background.
void Catch(int number) {
  struct sigaction action = {};
  if (sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) return;
  action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, nullptr);
}

void CatchNoMore(int number) {
  struct sigaction action = {};
  if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == OnSignal) signal(number, SIG_DFL);
}

}  // namespace

void RunGuard::Begin(wasinn_guest* guest, std::chrono::milliseconds timeout, std::function<void(int code)> keep) {
  if (pipe2(pipe_, O_CLOEXEC) != 0) return;
  guest_ = guest;
  keep_ = std::move(keep);
  caught = 0;
  watcher_pipe = pipe_[1];
  const auto deadline = timeout.count() > 0 ? Clock::now() + timeout + kGrace : Clock::time_point::max();
  try {
    thread_ = std::thread([this, deadline] { Watch(deadline); });
  } catch (const std::system_error&) {
    return;
  }
  for (const int number : kSignals) Catch(number);
}

int RunGuard::Over() {
  {
    const std::lock_guard lock(mutex_);
    guest_ = nullptr;
  }
  if (thread_.joinable()) Notify(kOver);
  return caught;
}

RunGuard::~RunGuard() {
  for (const int number : kSignals) CatchNoMore(number);
  if (thread_.joinable()) {
    Notify(kEnd);
    thread_.join();
  }
  for (const int end : pipe_) {
    if (end >= 0) close(end);
  }
}

void RunGuard::Notify(uint8_t what) const { (void)!write(pipe_[1], &what, 1); }

void RunGuard::Stop() {
  const std::lock_guard lock(mutex_);
  if (guest_ != nullptr) wasinn_guest_stop(guest_);
}

void RunGuard::EndSoonAndKeep(int code) {
  is_keeping = true;  // before the time runs
  EndSoon(code);
  Keep(code);
}

void RunGuard::Keep(int code) {
  is_keeping = true;
  keep_(code);
  is_keeping = false;
}

// The guest, or a reader of the log, may make this thread wait, so the end of this process is arranged first.
void RunGuard::Watch(Clock::time_point deadline) {
  constexpr int kTimeout = 124;  // that of timeout(1)
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd message = {.fd = pipe_[0], .events = POLLIN, .revents = 0};
    constexpr std::chrono::milliseconds kLong(60'000);
    poll(&message, 1, static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), kLong).count()));
    if (message.revents == 0) {
      if (Clock::now() < deadline) continue;
      EndSoonAndKeep(kTimeout);
      Log(WASINN_LOG_ERROR, "the guest's time is over, and it does not end: this process ends");
      _exit(kTimeout);
    }
    uint8_t what = kEnd;
    if (read(pipe_[0], &what, 1) != 1 || what == kEnd) return;
    deadline = Clock::time_point::max();
    if (what == kOver) continue;
    EndSoonAndKeep(128 + what);  // before the engine gets it, which may take all the remaining time
    Stop();
    // Then writes the results. A command that ends by now does it itself.
    if (poll(&message, 1, static_cast<int>((kGrace / 4).count())) == 0) Keep(128 + what);
  }
}

}  // namespace wasinn::cli
