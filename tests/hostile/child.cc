#include "hostile/child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <string_view>
#include <thread>

namespace wasinn::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

}  // namespace

Child::Child(const std::vector<std::string>& argv, const std::vector<std::string>& environment) {
  ::signal(SIGPIPE, SIG_IGN);  // a child that ended is seen at its output
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) std::abort();
  error_file_ = ::memfd_create("stderr", MFD_CLOEXEC);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::signal(SIGPIPE, SIG_DFL);
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::dup2(error_file_, 2);
    for (const std::string& entry : environment) ::putenv(const_cast<char*>(entry.c_str()));
    std::vector<char*> pointers;
    pointers.reserve(argv.size() + 1);
    for (const std::string& arg : argv) pointers.push_back(const_cast<char*>(arg.c_str()));
    pointers.push_back(nullptr);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  EXPECT_GT(pid_, 0);
  ::close(in[0]);
  ::close(out[1]);
  input_ = in[1];
  output_ = out[0];
}

Child::~Child() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  CloseInput();
  ::close(output_);
  ::close(error_file_);
}

void Child::Say(const std::string& line) {
  const std::string text = line + "\n";
  EXPECT_EQ(::write(input_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

void Child::CloseInput() {
  if (input_ >= 0) ::close(input_);
  input_ = -1;
}

bool Child::ReadSome(milliseconds most) {
  pollfd wait{output_, POLLIN, 0};
  if (::poll(&wait, 1, static_cast<int>(most.count())) <= 0) return false;
  char buffer[4096];
  const ssize_t n = ::read(output_, buffer, sizeof(buffer));
  if (n <= 0) return false;
  out_.append(buffer, static_cast<size_t>(n));
  return true;
}

bool Child::ReadUntil(const std::string& last) {
  const size_t begin = out_.size();
  const auto end = steady_clock::now() + std::chrono::seconds(100);
  while (steady_clock::now() < end) {
    std::string_view text(out_);
    text.remove_prefix(begin);
    if (text.ends_with('\n') && text.substr(0, text.size() - 1).ends_with(last)) return true;
    if (!ReadSome(milliseconds(100'000))) return false;
  }
  return false;
}

void Child::Kill(int signal) const { ::kill(pid_, signal); }

void Child::WaitForWork(std::chrono::milliseconds cpu_time) const {
  clockid_t clock{};
  ASSERT_EQ(::clock_getcpuclockid(pid_, &clock), 0);
  const auto worked = [clock] {
    timespec time{};
    ::clock_gettime(clock, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  const auto end = worked() + cpu_time;
  while (worked() < end) std::this_thread::sleep_for(milliseconds(1));
}

int Child::Wait(std::chrono::seconds most) {
  if (pid_ < 0) return exit_code_;
  CloseInput();
  // A killed command may leave nobody who closes the pipe but itself, so reading to the end is waiting for it.
  const auto end = steady_clock::now() + most;
  while (steady_clock::now() < end && ReadSome(std::chrono::duration_cast<milliseconds>(end - steady_clock::now()))) {
  }
  int status = 0;
  rusage usage{};
  while (::wait4(pid_, &status, WNOHANG, &usage) == 0) {
    if (steady_clock::now() > end) ::kill(pid_, SIGKILL);
    std::this_thread::sleep_for(milliseconds(1));
  }
  pid_ = -1;
  peak_bytes_ = static_cast<size_t>(usage.ru_maxrss) * 1024;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return exit_code_;
}

std::string Child::err() const {
  std::string text;
  char buffer[4096];
  off_t at = 0;
  for (ssize_t n; (n = ::pread(error_file_, buffer, sizeof(buffer), at)) > 0; at += n) {
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

}  // namespace wasinn::testing
