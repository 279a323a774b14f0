#include "artifacts/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "engines/own_folder.h"

namespace wasinn::artifacts {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using engines::OpenFile;

constexpr int kNotStarted = 127;
constexpr size_t kMaxWords = 4096;  // at the end of the program's output

struct Pipe {
  OpenFile from{-1}, to{-1};
  bool Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    from = OpenFile(ends[0]);
    to = OpenFile(ends[1]);
    return true;
  }
};

// Runs in the new process of a program with several threads, so it only makes system calls.
[[noreturn]] void Become(char* const* command, const ProgramRun& run, pid_t parent, int output, int errors) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kNotStarted);  // the parent has ended already
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  rlimit limit = {};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_max = limit.rlim_cur = std::min<rlim_t>(run.most_file_bytes, limit.rlim_max);
  setrlimit(RLIMIT_FSIZE, &limit);
  if (!run.folder.empty() && chdir(run.folder.c_str()) != 0) _exit(kNotStarted);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
      dup2(errors, STDERR_FILENO) < 0) {
    _exit(kNotStarted);
  }
  close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
  execve(command[0], command, environ);
  _exit(kNotStarted);
}

// Reads until both pipes end. "": they ended in time, and within the limits.
std::string ReadBoth(const ProgramRun& run, int output, int errors, std::string& printed, std::string& said) {
  const auto until = Clock::now() + run.timeout;
  pollfd waiting[] = {{.fd = output, .events = POLLIN, .revents = 0}, {.fd = errors, .events = POLLIN, .revents = 0}};
  char some[1 << 16];
  while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return fmt::format("it was not done within {} s", run.timeout.count() / 1000.0);
    if (poll(waiting, 2, static_cast<int>(std::min<int64_t>(left, INT32_MAX))) <= 0) continue;
    for (pollfd& one : waiting) {
      if (one.fd < 0 || one.revents == 0) continue;
      const ssize_t size = read(one.fd, some, sizeof some);
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) {
        one.fd = -1;
        continue;
      }
      std::string& text = &one == waiting ? printed : said;
      text.append(some, static_cast<size_t>(size));
      if (said.size() > kMaxWords) said.erase(0, said.size() - kMaxWords);
      if (printed.size() > run.most_output_bytes)
        return fmt::format("it printed more than {} bytes", run.most_output_bytes);
    }
  }
  return "";
}

// The message of a line in the format of Go's programs, level=fatal msg="…"; else the whole line.
std::string LastWords(std::string said) {
  while (said.ends_with('\n')) said.pop_back();
  const std::string line = said.substr(said.rfind('\n') + 1);
  constexpr std::string_view kMessage = " msg=\"";
  const size_t at = line.find(kMessage);
  if (at == line.npos || !line.ends_with('"')) return line;
  std::string message;
  for (size_t i = at + kMessage.size(); i + 1 < line.size(); ++i) {
    if (line[i] == '\\') ++i;
    message += line[i];
  }
  return message;
}

std::string HowItEnded(int status) {
  if (WIFSIGNALED(status)) return fmt::format("signal {} ended it", WTERMSIG(status));
  if (WEXITSTATUS(status) == kNotStarted) return "it cannot be started";
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

}  // namespace

std::string FindProgram(std::string_view name) {
  const char* const path = std::getenv("PATH");
  for (std::string_view rest = path == nullptr ? "" : path; !rest.empty();) {
    const size_t end = std::min(rest.find(':'), rest.size());
    const fs::path program = fs::path(rest.substr(0, end)) / name;
    std::error_code ignored;
    if (program.is_absolute() && fs::is_regular_file(program, ignored) && access(program.c_str(), X_OK) == 0) {
      return program.string();
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return "";
}

Result<std::string> RunProgram(const ProgramRun& run) {
  const auto failed = [&](const std::string& why) { return std::unexpected(run.command[0] + ": " + why); };
  Pipe output, errors;
  if (!output.Open() || !errors.Open()) return failed(std::strerror(errno));
  std::vector<char*> command;
  for (const std::string& word : run.command) command.push_back(const_cast<char*>(word.c_str()));
  command.push_back(nullptr);
  const pid_t parent = getpid(), child = fork();
  if (child == 0) Become(command.data(), run, parent, output.to.get(), errors.to.get());
  if (child < 0) return failed(std::strerror(errno));
  output.to = OpenFile(-1);
  errors.to = OpenFile(-1);
  std::string printed, said;
  const std::string why = ReadBoth(run, output.from.get(), errors.from.get(), printed, said);
  if (!why.empty()) kill(child, SIGKILL);
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  if (!why.empty()) return failed(why);
  if (ended != child) return failed("its exit code is unknown, since this process ignores SIGCHLD");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return printed;
  const std::string words = LastWords(said);
  return failed(words.empty() ? HowItEnded(status) : words);
}

}  // namespace wasinn::artifacts
