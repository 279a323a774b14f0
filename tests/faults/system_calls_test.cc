// Each system call of an inference in a worker fails once: the host's, its template's and its worker's.
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <climits>

#include "faults/inference.h"
#include "faults/looked_at.h"
#include "support/own_process.h"
#include "support/this_build.h"

#ifndef SYS_open  // ARM64 has only the newer calls
#define SYS_open SYS_openat
#define SYS_vfork SYS_clone
#define SYS_fork SYS_clone
#define SYS_poll SYS_ppoll
#endif

namespace wasinn::testing {
namespace {

constexpr Course kKeepingCourse = {
    .name = "", .interface = Interface::kWitx, .model = "in x f32 -1\nin y f32 -1\nkeeps 100\nload_keeps 100\n"};

size_t CountSegments() {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.contains("memfd:wasinn") ? 1 : 0;
  return count;
}

struct Counts {
  int points = 0, failed = 0;
};

// A host of its own, whose call of that number fails.
class Faults {
 public:
  Faults(std::vector<int> numbers, int error, bool of_host)
      : numbers_(std::move(numbers)), error_(error), of_host_(of_host) {}

  // Whether there was such a call.
  bool Infer(int call, Counts& counts) {
    SCOPED_TRACE("call " + std::to_string(call));
    const auto look = [this](pid_t thread, int number) {
      if (left_ == INT_MAX || IsThreadOfOurs(thread) != of_host_ || left_-- != 0) return 0;
      failed_ = number;
      return error_;
    };
    RunLookedAt(numbers_, look, [&] {
      const HostPtr host = HostOfFaults(true);
      const GuestPtr guest = NewGuest(host.get());
      const auto inference = Begin(kKeepingCourse, guest.get());
      failed_ = kNone;
      left_ = call;
      const bool worked = inference->DoAll();
      const int left = left_.exchange(INT_MAX);
      EXPECT_TRUE(worked || failed_ != kNone);
      counts.failed += worked ? 0 : 1;
      SCOPED_TRACE("system call " + std::to_string(failed_));
      InferAgain(kKeepingCourse, guest.get(), worked);
      if (left >= 0) left_ = left;
      wasinn_guest_close(guest.get());
      left_ = INT_MAX;
      ExpectNothingHeld(guest);
    });
    return failed_ != kNone;
  }

 private:
  const std::vector<int> numbers_;
  const int error_;
  const bool of_host_;
  static constexpr int kNone = -1;
  std::atomic<int> left_{INT_MAX}, failed_{kNone};
};

// Every `stride`th, until there is none.
void FailEach(const std::vector<int>& numbers, int error, bool of_host, int stride = 1) {
  Faults faults(numbers, error, of_host);
  Counts counts, none;
  (void)faults.Infer(INT_MAX - 1, none);
  const size_t descriptors = CountDescriptors();
  for (int call = 0; !::testing::Test::HasFailure() && faults.Infer(call, counts); call += stride) ++counts.points;
  EXPECT_EQ(CountDescriptors(), descriptors);
  EXPECT_EQ(CountSegments(), 0u);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child that was not waited for";
  std::printf("%d points, %d failed inferences\n", counts.points, counts.failed);
}

struct HostCalls {
  const char* name;
  std::vector<int> numbers;
  int error;
};

class SystemCallsOfHosts : public ::testing::TestWithParam<HostCalls> {};

TEST_P(SystemCallsOfHosts, FailOnce) {
  if (HasAddressSanitizer() && GetParam().numbers[0] == SYS_mmap) return;  // its allocator's ends the process
  FailEach(GetParam().numbers, GetParam().error, true);
}

const HostCalls kHostCalls[] = {
    {"memfd_create", {SYS_memfd_create}, EMFILE},
    {"fallocate", {SYS_fallocate}, ENOSPC},
    {"pwrite", {SYS_pwrite64}, ENOSPC},
    {"mmap", {SYS_mmap}, ENOMEM},
    {"madvise", {SYS_madvise}, EINVAL},
    {"fcntl", {SYS_fcntl}, EMFILE},
    {"open", {SYS_openat, SYS_open}, EMFILE},
    {"pidfd_send_signal", {SYS_pidfd_send_signal}, EPERM},
    {"socketpair", {SYS_socketpair}, EMFILE},
    {"setsockopt", {SYS_setsockopt}, ENOMEM},
    {"sendmsg", {SYS_sendmsg}, ENOBUFS},
    {"recv", {SYS_recvfrom, SYS_recvmsg}, ENOMEM},
    {"ioctl", {SYS_ioctl}, ENOMEM},
    {"process", {SYS_clone, SYS_clone3, SYS_vfork, SYS_fork}, EAGAIN},
    {"poll", {SYS_poll}, ENOMEM},
};

INSTANTIATE_TEST_SUITE_P(, SystemCallsOfHosts, ::testing::ValuesIn(kHostCalls),
                         [](const auto& one) { return std::string(one.param.name); });

// All calls, from the start of the zygote's program on. All in some minutes, or every so many.
TEST(SystemCallsOfWorkers, FailOnce) {
  if (HasAddressSanitizer()) return;  // whose own calls must not fail: it would wait for ever
  const char* stride = std::getenv("WASINN_FAULTS_STRIDE");
  FailEach({}, EPERM, false, stride == nullptr ? 7 : std::atoi(stride));
}

}  // namespace
}  // namespace wasinn::testing
