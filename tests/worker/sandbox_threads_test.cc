// Threads that a guest's model makes without end: the system has a number of them for all processes.
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "support/test.h"
#include "worker/nobody.h"
#include "worker/sealed.h"

namespace wasinn::test {
namespace {

// Until there are no more, of the smallest stacks.
int CountThreads() {
  pthread_attr_t attributes{};
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, static_cast<size_t>(PTHREAD_STACK_MIN));
  const auto wait = [](void*) -> void* {
    for (;;) poll(nullptr, 0, -1);
  };
  int count = 0;
  for (pthread_t thread{}; pthread_create(&thread, &attributes, wait, nullptr) == 0;) ++count;
  return count;
}

// 64 MiB have 16 stacks of 4 MiB, and there are 64 more threads.
void ExpectFew(const std::function<void()>& become) {
  const Ended ended = InChild([&] {
    become();
    auto sandbox = worker::Sandbox::RaiseBeforeThreads({});
    if (!sandbox || !sandbox->Seal(64 << 20)) throw std::runtime_error("it does not stand");
    std::printf("%d threads\n", CountThreads());
    std::fflush(stdout);
    _exit(0);
    return 0;
  });
  EXPECT_EQ(ended.said, "80 threads\n") << ended;
}

TEST(SandboxThreadsEnd, ForWhoeverRunsTheTest) {
  ExpectFew([] {});
}

// If the system allows no namespaces of users, its threads are not counted separately.
TEST(SandboxThreadsEnd, ForTheUserNobody) {
  const Ended trial = InChild([] {
    BecomeNobody();
    return unshare(CLONE_NEWUSER);
  });
  if (trial.exit_code != 0) GTEST_SKIP() << "this system allows no namespaces of users";
  ExpectFew(BecomeNobody);
}

// In a container that lets no namespaces be made, others of the user keep half of what there may be.
TEST(SandboxThreadsEnd, AtHalfOfTheUsersWhereTheyAreNotCountedApart) {
  const Ended ended = InChild([] {
    const rlimit most = {.rlim_cur = 1000, .rlim_max = 2000};
    setrlimit(RLIMIT_NPROC, &most);
    BecomeNobody();
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(unshare), 0);
    if (seccomp_load(filter) != 0) throw std::runtime_error("seccomp_load");
    if (!worker::Sandbox::RaiseBeforeThreads({})) throw std::runtime_error("it does not stand");
    rlimit limit = {};
    getrlimit(RLIMIT_NPROC, &limit);
    std::printf("%d and %d\n", static_cast<int>(limit.rlim_cur), static_cast<int>(limit.rlim_max));
    return 0;
  });
  EXPECT_EQ(ended.said, "500 and 500\n") << ended;
}

TEST(SandboxThreadsEnd, FilesAreOpenedAsBefore) {
  char path[] = "/tmp/sandbox-XXXXXX";
  const int file = mkstemp(path);  // its user's alone
  ASSERT_GE(file, 0);
  close(file);
  const Ended ended = InChild([&] {
    if (!worker::Sandbox::RaiseBeforeThreads({.readable = {"/"}})) throw std::runtime_error("it does not stand");
    return open(path, O_RDONLY) >= 0 ? 0 : errno;
  });
  unlink(path);
  EXPECT_EQ(ended.exit_code, 0) << ended;
}

}  // namespace
}  // namespace wasinn::test
