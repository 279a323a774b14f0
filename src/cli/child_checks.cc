#include "cli/child_checks.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>

namespace wasinn::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Reads a pipe line by line.
class Lines {
 public:
  explicit Lines(int pipe) : pipe_(pipe) {}
  ~Lines() { ::close(pipe_); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  enum class State { kLine, kEnd, kLate };
  State Next(std::string& line, Clock::time_point until) {
    for (;;) {
      if (const size_t end = read_.find('\n'); end != read_.npos) {
        line = read_.substr(0, end);
        read_.erase(0, end + 1);
        return State::kLine;
      }
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
      pollfd waiting{.fd = pipe_, .events = POLLIN, .revents = 0};
      if (::poll(&waiting, 1, static_cast<int>(std::clamp<int64_t>(left, 0, INT32_MAX))) <= 0) {
        if (left <= 0) return State::kLate;  // and nothing has come
        continue;
      }
      char some[4096];
      const ssize_t size = ::read(pipe_, some, sizeof some);
      if (size <= 0) return State::kEnd;
      read_.append(some, static_cast<size_t>(size));
    }
  }

 private:
  const int pipe_;
  std::string read_;
};

std::string HowItEnded(int status) {
  if (WIFSIGNALED(status)) return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

// Runs one child, from check `next` on, which it advances. False: no further child should run.
bool RunOneChild(const ChildChecks& checks, size_t& next) {
  int ends[2];
  if (::pipe(ends) != 0) return checks.done(next, {{"no pipe can be made"}, ""}) && false;
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    checks.run(next, CheckReporter(ends[1]));
    ::_exit(0);
  }
  ::close(ends[1]);
  Lines lines(ends[0]);
  const auto end_child = [&] {
    int status = 0;
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
  };
  Outcome outcome;
  std::string line;
  for (;;) {
    const auto state = lines.Next(line, Clock::now() + std::chrono::seconds(checks.seconds));
    if (state == Lines::State::kLine && line[0] == '!') outcome.failures.push_back(line.substr(1));
    if (state == Lines::State::kLine && line[0] == '~') outcome.nothing = line.substr(1);
    if (state == Lines::State::kLine && line[0] == '-') {
      if (!checks.done(next++, outcome)) return end_child(), false;
      outcome = {};
    }
    if (state == Lines::State::kLine) continue;
    if (state == Lines::State::kLate) {
      end_child();
      if (next == checks.count) return false;
      outcome.failures.push_back(fmt::format("it did not return within {} s", checks.seconds));
    } else {
      int status = 0;
      ::waitpid(child, &status, 0);
      if (next == checks.count) return false;
      outcome.failures.push_back("it ended the OS process: " + HowItEnded(status));
    }
    return checks.done(next++, outcome);
  }
}

}  // namespace

void CheckReporter::Say(char what, std::string text) const {
  std::ranges::replace(text, '\n', ' ');
  const std::string line = what + text + '\n';
  for (size_t said = 0; said < line.size();) {
    const ssize_t size = ::write(pipe_, line.data() + said, line.size() - said);
    if (size <= 0) ::_exit(1);  // the parent is gone
    said += static_cast<size_t>(size);
  }
}

void RunInChildren(const ChildChecks& checks) {
  for (size_t next = 0; next < checks.count;) {
    if (!RunOneChild(checks, next)) return;
  }
}

}  // namespace wasinn::cli
