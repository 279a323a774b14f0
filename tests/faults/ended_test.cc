// Workers and zygotes that are ended at each message of an inference: the guest gets an error, and the next load works.
#include <sys/syscall.h>
#include <sys/wait.h>

#include "faults/inference.h"
#include "faults/looked_at.h"
#include "faults/processes.h"
#include "support/own_process.h"

namespace wasinn::testing {
namespace {

constexpr Course kCourse = {.name = "",
                            .interface = Interface::kWitx,
                            .model = "in x f32 -1\nin y f32 -1\npieces 4\nkeeps 100\nload_keeps 100\n",
                            .generates = true};

// The host's messages, sent and received, on its sockets.
const std::vector<int> kMessages = {SYS_sendmsg, SYS_recvfrom, SYS_recvmsg};

void ExpectNoChildren() {
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child that was not waited for";
  EXPECT_EQ(errno, ECHILD);
}

class Ended : public ::testing::Test {
 protected:
  // An inference before whose message of that number the processes are ended. Whether there was such a message.
  bool InferEndedAt(wasinn_host* host, int message) {
    SCOPED_TRACE("message " + std::to_string(message));
    const GuestPtr guest = NewGuest(host);
    left_ = message;
    const bool worked = Begin(kCourse, guest.get())->DoAll();
    const bool ended = left_.exchange(INT_MAX) < 0;
    EXPECT_TRUE(worked || ended);
    failed_ += worked ? 0 : 1;
    // The same guest, with a new worker.
    InferAgain(kCourse, guest.get(), worked);
    wasinn_guest_close(guest.get());
    ExpectNothingHeld(guest);
    return ended;
  }

  void Run(const std::function<void()>& end, const std::function<void(const HostPtr&)>& work) {
    const auto look = [&](pid_t thread, int) {
      if (left_ < INT_MAX && IsThreadOfOurs(thread) && left_-- == 0) end();
      return 0;
    };
    RunLookedAt(kMessages, look, [&] { work(HostOfFaults(true, "", name_.path())); });
    ExpectNoChildren();
  }

  const WorkerName name_;
  std::atomic<int> left_{INT_MAX};
  int failed_ = 0;
};

TEST_F(Ended, WorkersThatEndAtEachMessage) {
  int messages = 0;
  const auto end = [this] { std::ranges::for_each(name_.Workers(), Kill); };
  Run(end, [&](const HostPtr& host) {
    for (int i = 0; i < 2; ++i) Begin(kCourse, NewGuest(host.get()).get())->DoFrom(0);
    const size_t descriptors = CountDescriptors();
    while (InferEndedAt(host.get(), messages) && !HasFailure()) ++messages;
    EXPECT_EQ(CountDescriptors(), descriptors);
    const std::vector<pid_t> templates = name_.Zygotes();
    ASSERT_EQ(templates.size(), 1u);
    EXPECT_EQ(CountChildren(templates[0]), 1u) << "the worker that stands ready";
  });
  EXPECT_GT(failed_, messages / 2);
  std::printf("%d messages, %d failed inferences\n", messages, failed_);
}

// With its workers, each time of a new host.
TEST_F(Ended, ZygotesThatEndAtEachMessage) {
  int messages = 0;
  const auto end = [this] {
    const std::vector<pid_t> workers = name_.Workers();
    std::ranges::for_each(name_.Zygotes(), Kill);
    std::ranges::for_each(workers, Kill);  // each ends with its template, but not at once
  };
  const size_t descriptors = CountDescriptors();
  for (bool more = true; more && !HasFailure(); messages += more ? 1 : 0) {
    Run(end, [&](const HostPtr& host) { more = InferEndedAt(host.get(), messages); });
  }
  EXPECT_EQ(CountDescriptors(), descriptors);
  EXPECT_GT(failed_, 0);
  std::printf("%d messages, %d failed inferences\n", messages, failed_);
}

}  // namespace
}  // namespace wasinn::testing
