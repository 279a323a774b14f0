#include "faults/looked_at.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/test.h"

namespace wasinn::testing {
namespace {

// A descriptor that reports the system calls of this thread, and of threads and processes that it starts.
int Filter(const std::vector<int>& numbers) {
  std::vector<sock_filter> program = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto to_notify = static_cast<uint8_t>(numbers.size() - i);
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(numbers[i]), to_notify, 0));
  }
  if (!numbers.empty()) program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
  const sock_fprog filter = {.len = static_cast<uint16_t>(program.size()), .filter = program.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter));
}

void AnswerOne(int listener, const Look& look) {
  seccomp_notif call{};
  if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return;  // its thread is gone
  const int error = look(static_cast<pid_t>(call.pid), call.data.nr);
  seccomp_notif_resp answer{
      .id = call.id, .val = 0, .error = -error, .flags = error == 0 ? uint32_t{SECCOMP_USER_NOTIF_FLAG_CONTINUE} : 0};
  (void)::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

void AnswerUntil(int stop, int listener, const Look& look) {
  std::array<pollfd, 2> all = {
      {{.fd = listener, .events = POLLIN, .revents = 0}, {.fd = stop, .events = POLLIN, .revents = 0}}};
  while (::poll(all.data(), all.size(), -1) >= 0 && all[1].revents == 0) {
    if ((all[0].revents & POLLIN) != 0) AnswerOne(listener, look);
  }
}

}  // namespace

bool IsThreadOfOurs(pid_t thread) { return ::access(("/proc/self/task/" + std::to_string(thread)).c_str(), F_OK) == 0; }

void RunLookedAt(const std::vector<int>& numbers, const Look& look, const std::function<void()>& work) {
  constexpr int kNone = -2;
  const int stop = ::eventfd(0, EFD_CLOEXEC);
  std::atomic<int> listener{kNone};
  std::thread worker([&] {
    const int filtered = Filter(numbers);
    listener = filtered;  // without a system call: nobody looks yet
    if (filtered >= 0) work();
  });
  while (listener == kNone) std::this_thread::yield();
  EXPECT_GE(listener, 0) << "this kernel does not report system calls";
  std::thread watcher([&] {
    if (listener >= 0) AnswerUntil(stop, listener, look);
  });
  worker.join();
  EXPECT_EQ(::eventfd_write(stop, 1), 0);
  watcher.join();
  ::close(stop);
  if (listener >= 0) ::close(listener);
}

}  // namespace wasinn::testing
