#include "support/command.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace wasinn::testing {
namespace {

// Output goes to an unnamed file rather than a pipe: a command that prints much cannot block on us.
class Capture {
 public:
  Capture() : file_(std::tmpfile()) {
    if (file_ == nullptr) std::abort();
  }
  ~Capture() { std::fclose(file_); }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  int fd() const { return ::fileno(file_); }
  std::string Read() const {
    std::string text;
    std::array<char, 1 << 16> buffer;
    for (ssize_t n; (n = ::pread(fd(), buffer.data(), buffer.size(), static_cast<off_t>(text.size()))) > 0;) {
      text.append(buffer.data(), static_cast<size_t>(n));
    }
    return text;
  }

 private:
  FILE* file_;
};

[[noreturn]] void Exec(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                       const std::string& folder, int out, int err) {
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing < 0) ::_exit(126);
  ::dup2(nothing, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  for (const std::string& entry : environment) ::putenv(const_cast<char*>(entry.c_str()));
  if (!folder.empty() && ::chdir(folder.c_str()) != 0) ::_exit(126);
  std::vector<char*> pointers;
  pointers.reserve(argv.size() + 1);
  for (const std::string& arg : argv) pointers.push_back(const_cast<char*>(arg.c_str()));
  pointers.push_back(nullptr);
  ::execv(pointers[0], pointers.data());
  ::_exit(127);
}

int WaitFor(pid_t child, int timeout_s) {
  int status = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(timeout_s);
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) ::kill(child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

CommandResult RunCommand(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                         const std::string& folder, int timeout_s) {
  const Capture out, err;
  const pid_t child = ::fork();
  if (child == 0) Exec(argv, environment, folder, out.fd(), err.fd());
  EXPECT_GT(child, 0);
  CommandResult result;
  result.exit_code = WaitFor(child, timeout_s);
  result.out = out.Read();
  result.err = err.Read();
  return result;
}

}  // namespace wasinn::testing
