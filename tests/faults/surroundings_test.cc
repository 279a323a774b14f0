// Hosts that treat their children, threads and descriptors as no library expects: an inference in a worker works, or
// says why not.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "faults/inference.h"
#include "faults/processes.h"

namespace wasinn::testing {
namespace {

constexpr Course kSurroundedCourse = {.name = "", .interface = Interface::kWitx, .model = "in x f32 -1\nin y f32 -1\n"};

void InferWith(const HostPtr& host) {
  const GuestPtr guest = NewGuest(host.get());
  Begin(kSurroundedCourse, guest.get())->DoFrom(0);
  wasinn_guest_close(guest.get());
  ExpectNothingHeld(guest);
}

void Infer() { InferWith(HostOfFaults(true)); }

// tests/cli/surroundings_test.py starts it in surroundings of its own.
TEST(Surroundings, Infer) { Infer(); }

TEST(Surroundings, HostsThatIgnoreTheirChildren) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  Infer();
  std::signal(SIGCHLD, before);
}

TEST(Surroundings, HostsWithAHandlerOfTheirOwn) {
  static std::atomic<int> ended;
  ended = 0;
  const auto before = std::signal(SIGCHLD, [](int) {
    ++ended;
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  });
  Infer();
  std::signal(SIGCHLD, before);
  EXPECT_LE(ended, 1) << "it notices the first process of two at most";
}

TEST(Surroundings, HostsThatWaitForAnyChild) {
  std::atomic<bool> ends{false};
  std::thread waits([&] {
    while (!ends) {
      if (::wait(nullptr) < 0) std::this_thread::yield();
    }
  });
  Infer();
  ends = true;
  waits.join();
}

// A child cannot use its copy of the parent's host, and may free it.
TEST(Surroundings, HostsThatFork) {
  const HostPtr host = HostOfFaults(true);
  GuestPtr guest = NewGuest(host.get());
  InferWith(host);
  const auto inference = Begin(kSurroundedCourse, guest.get());
  constexpr size_t kSetInput = 2;
  for (size_t i = 0; i < kSetInput; ++i) ASSERT_TRUE(inference->Do(i));
  const pid_t child = ::fork();
  if (child == 0) {
    const bool loads = Begin(kSurroundedCourse, guest.get())->Do(0);
    guest.reset();
    ::_exit(loads ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  inference->DoFrom(kSetInput);
  InferWith(host);
}

// Neither the template nor the worker is the thread's.
TEST(Surroundings, ThreadsThatEnd) {
  HostPtr host;
  GuestPtr guest;
  std::unique_ptr<Inference> inference;
  constexpr size_t kSetInput = 2;
  std::thread([&] {
    host = HostOfFaults(true);
    guest = NewGuest(host.get());
    inference = Begin(kSurroundedCourse, guest.get());
    for (size_t i = 0; i < kSetInput; ++i) EXPECT_TRUE(inference->Do(i));
  }).join();
  inference->DoFrom(kSetInput);
  InferWith(host);
}

TEST(Surroundings, NoProcessesAreLeft) {
  const WorkerName name;
  {
    const HostPtr host = HostOfFaults(true, "", name.path());
    InferWith(host);
    EXPECT_EQ(name.Zygotes().size(), 1u);
  }
  // They end by themselves when the host hangs up.
  while (!name.Zygotes().empty()) std::this_thread::yield();
}

// Each number of descriptors that a host may still open, from none on.
TEST(Surroundings, HostsWithFewDescriptors) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  int failed = 0;
  const auto most = static_cast<rlim_t>(::dup(0));  // the next that is free
  ::close(static_cast<int>(most));
  for (rlim_t more = 0, works = 0; works == 0 && !HasFailure(); ++more) {
    const HostPtr host = HostOfFaults(true);
    const GuestPtr guest = NewGuest(host.get());
    const rlimit few = {.rlim_cur = most + more, .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    works = Begin(kSurroundedCourse, guest.get())->DoAll() ? 1 : 0;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    failed += works == 0 ? 1 : 0;
    Begin(kSurroundedCourse, guest.get())->DoFrom(0);
  }
  EXPECT_GT(failed, 2);
  std::printf("%d points\n", failed);
}

// Beyond which a signal would end the host.
TEST(Surroundings, HostsWhoseFilesMustBeSmall) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const HostPtr host = HostOfFaults(true);
  const GuestPtr guest = NewGuest(host.get());
  for (const rlim_t most : {rlim_t{0}, rlim_t{100}}) {
    const rlimit small = {.rlim_cur = most, .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const bool worked = Begin(kSurroundedCourse, guest.get())->DoAll();
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_FALSE(worked);
  }
  Begin(kSurroundedCourse, guest.get())->DoFrom(0);
}

}  // namespace
}  // namespace wasinn::testing
