// Attacks of a guest's model that has taken over its framework.
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>

#include "support/test.h"
#include "worker/devices.h"
#include "worker/sandbox_support.h"
#include "worker/sealed.h"

namespace wasinn::test {
namespace {

constexpr size_t kPage = 4096;
constexpr int kPrivateMemory = MAP_PRIVATE | MAP_ANONYMOUS;

// By number, so that the C library does nothing else.
template <typename... Arguments>
long Call(long number, Arguments... arguments) {
  return syscall(number, arguments...);
}
long Map(int protection, int flags, int file = -1) {
  return reinterpret_cast<long>(mmap(nullptr, kPage, protection, flags, file, 0));
}

struct Attack {
  const char* name;
  std::function<long()> call;  // -1 and errno
  int error = EPERM;
};
void PrintTo(const Attack& attack, std::ostream* out) { *out << attack.name; }

std::vector<Attack> OnFiles() {
  return {{"Open", [] { return Call(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY, 0); }},
          {"OpenItsOwnMemory", [] { return Call(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR, 0); }},
          {"OpenByHandle", [] { return Call(SYS_open_by_handle_at, AT_FDCWD, nullptr, O_RDONLY); }},
          {"Stat", [] { return Call(SYS_newfstatat, AT_FDCWD, "/etc/passwd", nullptr, 0); }},
          {"Unlink", [] { return Call(SYS_unlinkat, AT_FDCWD, "/nothing", 0); }},
          {"ChangeFolder", [] { return Call(SYS_chdir, "/"); }},
          {"Mount", [] { return Call(SYS_mount, "none", "/", "tmpfs", 0, nullptr); }},
          {"Ioctl", [] { return Call(SYS_ioctl, 0, 0x5401, nullptr); }}};
}

std::vector<Attack> OnNetwork() {
  return {{"Socket", [] { return Call(SYS_socket, AF_INET, SOCK_STREAM, 0); }},
          {"SocketPair", [] { return Call(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, nullptr); }},
          {"Connect", [] { return Call(SYS_connect, 0, nullptr, 0); }},
          {"Bind", [] { return Call(SYS_bind, 0, nullptr, 0); }},
          {"LocalSocket", [] { return Call(SYS_socket, AF_UNIX, SOCK_STREAM, 0); }},
          {"IoUring", [] { return Call(SYS_io_uring_setup, 1, nullptr); }}};
}

std::vector<Attack> OnProcesses() {
  return {{"Fork", [] { return Call(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr); }},
#ifdef SYS_vfork  // ARM64 has only the newer calls
          {"ForkThatWaits", [] { return Call(SYS_vfork); }},
#endif
          {"CloneMemoryOnly", [] { return Call(SYS_clone, CLONE_VM | SIGCHLD, nullptr, nullptr, nullptr, nullptr); }},
          {"Clone3", [] { return Call(SYS_clone3, nullptr, 0); }, ENOSYS},
          {"NewNamespace", [] { return Call(SYS_unshare, CLONE_NEWUSER); }},
          {"KillItsParent", [] { return Call(SYS_kill, getppid(), 0); }},
          {"KillAll", [] { return Call(SYS_kill, -1, 0); }},
          {"KillItsGroup", [] { return Call(SYS_kill, 0, 0); }},
          {"KillAThreadOfItsParent", [] { return Call(SYS_tgkill, getppid(), getppid(), 0); }},
          {"KillAnyThread", [] { return Call(SYS_tkill, getppid(), 0); }},
          {"QueueASignal", [] { return Call(SYS_rt_tgsigqueueinfo, getppid(), getppid(), 0, nullptr); }},
          {"OpenItsParent", [] { return Call(SYS_pidfd_open, getppid(), 0); }},
          {"MoveItsParent",
           [] {
             cpu_set_t set;
             sched_getaffinity(0, sizeof set, &set);
             return Call(SYS_sched_setaffinity, getppid(), sizeof set, &set);
           }},
          {"BeNicer", [] { return Call(SYS_setpriority, PRIO_PROCESS, 0, 0); }},
          {"RunAsRealTime", [] { return Call(SYS_sched_setscheduler, 0, SCHED_FIFO, nullptr); }},
          {"FaultsByHand", [] { return Call(SYS_userfaultfd, 0); }},
          {"ChangeUser", [] { return Call(SYS_setuid, 0); }},
          {"SetTheClock", [] { return Call(SYS_clock_settime, 0, nullptr); }},
          {"Trace", [] { return Call(SYS_perf_event_open, nullptr, 0, -1, -1, 0); }},
          {"Bpf", [] { return Call(SYS_bpf, 0, nullptr, 0); }},
          {"BeDumpable", [] { return Call(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0); }},
          {"FilterAgain", [] { return Call(SYS_seccomp, 1, 0, nullptr); }}};
}

// As a host shares it.
void* const shared = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

std::vector<Attack> OnMemory() {
  constexpr int kRead = PROT_READ, kWrite = PROT_READ | PROT_WRITE;
  return {{"FileInMemory", [] { return Call(SYS_memfd_create, "memory", 0); }},
          {"SystemVMemory", [] { return Call(SYS_shmget, 0, kPage, 0600); }},
          {"ExecutableMemory", [=] { return Map(kRead | PROT_EXEC, kPrivateMemory); }},
          {"ExecutableLater",
           [=] {
             const long page = Map(kWrite, kPrivateMemory);
             return Call(SYS_mprotect, page, kPage, kRead | PROT_EXEC);
           }},
          {"ExecutableByKey",
           [=] {
             const long page = Map(kWrite, kPrivateMemory);
             return Call(SYS_pkey_mprotect, page, kPage, kRead | PROT_EXEC, -1);
           }},
          {"ExecutableByPersonality", [] { return Call(SYS_personality, 0x0400000); }},
          {"SharedMemory", [=] { return Map(kWrite, MAP_SHARED | MAP_ANONYMOUS); }},
          {"SharedMemoryThatIsChecked", [=] { return Map(kWrite, MAP_SHARED_VALIDATE | MAP_ANONYMOUS); }},
          {"MemoryThatGrowsUncounted", [=] { return Map(kWrite, kPrivateMemory | MAP_GROWSDOWN); }},
          {"HolesInWhatTheHostShares", [] { return Call(SYS_madvise, shared, kPage, MADV_REMOVE); }},
          {"OtherProcessesPages", [] { return Call(SYS_madvise, shared, kPage, MADV_PAGEOUT); }},
          {"HugePages", [=] { return Map(kWrite, kPrivateMemory | MAP_HUGETLB); }},
          {"MoreMemory",
           [] {
             const rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
             return Call(SYS_prlimit64, 0, RLIMIT_DATA, &all, nullptr);
           }},
          {"MoreMemoryByTheOldCall",
           [] {
             const rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
             return Call(SYS_setrlimit, RLIMIT_DATA, &all);
           }},
          {"LimitsOfItsParent", [] {
             rlimit limit;
             return Call(SYS_prlimit64, getppid(), RLIMIT_DATA, nullptr, &limit);
           }}};
}

worker::SandboxOptions WallWithDevices() {
  worker::SandboxOptions options = worker::SandboxOptionsOf("onnx");
  worker::AddDevices(options, {});
  options.devices.emplace_back("/dev/zero");
  return options;
}

class SandboxRefuses : public ::testing::TestWithParam<Attack> {
 protected:
  static void ExpectTheError(const worker::SandboxOptions& options) {
    const Ended ended = InSealed(options, 64 << 20, [] {
      errno = 0;
      return GetParam().call() == -1 ? errno : 0;
    });
    EXPECT_EQ(ended.exit_code, GetParam().error) << ended;
  }
};
TEST_P(SandboxRefuses, This) { ExpectTheError({}); }

// A device's needs open the sandbox for none of these.
class SandboxWithDevicesRefuses : public SandboxRefuses {};
TEST_P(SandboxWithDevicesRefuses, This) { ExpectTheError(WallWithDevices()); }

std::string NameOf(const ::testing::TestParamInfo<Attack>& attack) { return attack.param.name; }
INSTANTIATE_TEST_SUITE_P(Files, SandboxRefuses, ::testing::ValuesIn(OnFiles()), NameOf);
INSTANTIATE_TEST_SUITE_P(Network, SandboxRefuses, ::testing::ValuesIn(OnNetwork()), NameOf);
INSTANTIATE_TEST_SUITE_P(Network, SandboxWithDevicesRefuses, ::testing::ValuesIn(OnNetwork()), NameOf);
INSTANTIATE_TEST_SUITE_P(Processes, SandboxWithDevicesRefuses, ::testing::ValuesIn(OnProcesses()), NameOf);
INSTANTIATE_TEST_SUITE_P(Processes, SandboxRefuses, ::testing::ValuesIn(OnProcesses()), NameOf);
INSTANTIATE_TEST_SUITE_P(Memory, SandboxRefuses, ::testing::ValuesIn(OnMemory()), NameOf);

class SandboxKills : public ::testing::TestWithParam<Attack> {};

TEST_P(SandboxKills, This) {
  for (const worker::SandboxOptions& options : {worker::SandboxOptions(), WallWithDevices()}) {
    const Ended ended = InSealed(options, 0, [] { return static_cast<int>(GetParam().call()); });
    EXPECT_EQ(ended.signal, GetParam().error) << ended;
  }
}

std::vector<Attack> Deadly() {
  std::vector<Attack> all = {
      {"Execute", [] { return Call(SYS_execve, "/bin/true", nullptr, nullptr); }, SIGSYS},
      {"ExecuteAFile", [] { return Call(SYS_execveat, 0, "", nullptr, nullptr, AT_EMPTY_PATH); }, SIGSYS},
      {"Trace", [] { return Call(SYS_ptrace, 0, 0, nullptr, nullptr); }, SIGSYS},
      {"ReadOthers", [] { return Call(SYS_process_vm_readv, getppid(), nullptr, 0, nullptr, 0, 0); }, SIGSYS},
      {"WriteOthers", [] { return Call(SYS_process_vm_writev, getppid(), nullptr, 0, nullptr, 0, 0); }, SIGSYS}};
#ifdef __x86_64__
  constexpr long kX32 = 0x40000000;
  all.push_back({"CallOfX32", [] { return Call(kX32 | SYS_getpid); }, SIGSYS});
  all.push_back({"CallOfI386",
                 [] {
                   long result = 20;  // getpid
                   asm volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
                   return result;
                 },
                 SIGSYS});
#endif
  return all;
}
INSTANTIATE_TEST_SUITE_P(, SandboxKills, ::testing::ValuesIn(Deadly()), NameOf);

// OpenVINO's sandbox: it can read below its folder, and nothing else.
TEST(SandboxReads, OnlyWhatItMay) {
  if (worker::FindSandboxSupport().landlock == 0) GTEST_SKIP() << "this kernel has no Landlock";
  worker::SandboxOptions options = worker::SandboxOptionsOf("openvino");
  options.readable = {"/usr/lib"};
  const auto open = [](const char* path, int flags) {
    return Call(SYS_openat, AT_FDCWD, path, flags, 0600) < 0 ? errno : 0;
  };
  const Ended ended = InSealed(options, 0, [&] {
    if (open("/usr/lib", O_RDONLY | O_DIRECTORY) != 0) return 1;
    if (open("/etc/passwd", O_RDONLY) != EACCES) return 2;
    if (open("/proc/self/maps", O_RDONLY) != EACCES) return 3;
    if (open("/usr/lib/new", O_WRONLY | O_CREAT) != EPERM) return 4;
    if (open("/usr/lib", O_RDONLY | O_PATH) != EPERM) return 5;
    if (open("/usr/lib", O_TMPFILE | O_RDWR) != EPERM) return 6;
    return 0;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
}

TEST(SandboxDescriptors, NoneIsOfTheWall) {
  const Ended ended = InChild([] {
    std::vector<int> closed;
    for (int number = 0; number < 64; ++number) {
      if (fcntl(number, F_GETFD) < 0) closed.push_back(number);
    }
    auto sandbox = worker::Sandbox::RaiseBeforeThreads({});
    if (!sandbox || !sandbox->Seal(0)) return 99;
    char byte = 0;
    for (const int number : closed) {
      if (read(number, &byte, 1) >= 0 || errno != EBADF) return number;
    }
    return 0;
  });
  EXPECT_EQ(ended.exit_code, 0) << ended;
}

int ErrorOfSocket() { return socket(AF_INET, SOCK_STREAM, 0) < 0 ? errno : 0; }

TEST(SandboxThreads, AreFilteredThoughTheyWereThereBefore) {
  const Ended ended = InChild([] {
    auto sandbox = worker::Sandbox::RaiseBeforeThreads({});
    std::promise<void> sealed;
    int error = 0;
    std::thread before([&] {
      sealed.get_future().wait();
      error = ErrorOfSocket();
    });
    const bool is_sealed = sandbox->Seal(0).has_value();
    sealed.set_value();
    before.join();
    return is_sealed ? error : -1;
  });
  EXPECT_EQ(ended.exit_code, EPERM) << ended;
}

TEST(SandboxThreads, AreFilteredThatComeLater) {
  const Ended ended = InSealed({}, 0, [] {
    int error = 0;
    std::thread([&] { error = ErrorOfSocket(); }).join();
    return error;
  });
  EXPECT_EQ(ended.exit_code, EPERM) << ended;
}

}  // namespace
}  // namespace wasinn::test
