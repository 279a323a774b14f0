#include "worker/child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <exception>

#include "support/test.h"

namespace wasinn::test {
namespace {

[[noreturn]] void RunAndReport(const std::function<int()>& work, const std::array<int, 2>& pipe) {
  dup2(pipe[1], STDOUT_FILENO);
  dup2(pipe[1], STDERR_FILENO);
  close(pipe[0]);
  close(pipe[1]);
  int code = 99;
  try {
    code = work();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "exception: %s\n", error.what());
  }
  std::exit(code);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Ended& ended) {
  return out << "exit code " << ended.exit_code << ", signal " << ended.signal << ": " << ended.said;
}

Ended InChild(const std::function<int()>& work) {
  Ended ended;
  std::array<int, 2> pipe = {-1, -1};
  if (::pipe(pipe.data()) != 0) return ended;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) RunAndReport(work, pipe);
  close(pipe[1]);
  std::array<char, 4096> text;
  for (ssize_t n; (n = read(pipe[0], text.data(), text.size())) > 0;)
    ended.said.append(text.data(), static_cast<size_t>(n));
  close(pipe[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  return ended;
}

}  // namespace wasinn::test
