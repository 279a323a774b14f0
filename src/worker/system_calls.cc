#include "worker/system_calls.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "worker/system_error.h"

namespace wasinn::worker {
namespace {

// Calls of every sealed C++ program with threads, whatever its framework: memory, threads, clocks, its own end, and the
// descriptors that it has.
constexpr const char* kBase[] = {
    // memory
    "brk", "mremap", "munmap",
    // threads
    "exit", "futex", "getcpu", "gettid", "rseq", "sched_getaffinity", "sched_yield", "set_robust_list",
    // signals to itself, and the end
    "exit_group", "getpid", "restart_syscall", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack",
    // clocks, where the C library cannot read them without the kernel
    "clock_getres", "clock_gettime", "clock_nanosleep", "gettimeofday", "nanosleep", "time",
    // descriptors that it has: messages with new ones, wake-ups, a log
    "close", "poll", "ppoll", "read", "recvmsg", "sendmsg", "write", "writev",
    // about itself
    "getrandom", "sysinfo", "uname"};

// Calls that are no accident.
constexpr const char* kDeadly[] = {"execve", "execveat", "process_vm_readv", "process_vm_writev", "ptrace"};

// For a worker that may use devices, whose drivers
constexpr const char* kOfDrivers[] = {
    // look for devices and libraries; Landlock decides which can be opened
    "access", "faccessat", "faccessat2", "fstat", "fstatfs", "getcwd", "getdents64", "lseek", "lstat", "newfstatat",
    "pread64", "readlink", "readlinkat", "stat", "statfs", "statx",
    // have threads that wait for the device and for each other
    "dup", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_wait", "eventfd2",
    // keep memory near the device's processor, and compiled code in an open file in memory
    "ftruncate", "get_mempolicy", "mbind", "membarrier", "mlock", "munlock", "set_mempolicy",
    // query the user, and how they may run
    "getegid", "geteuid", "getgid", "getppid", "getrusage", "getuid", "sched_get_priority_max",
    "sched_get_priority_min", "sched_getparam", "sched_getscheduler", "times"};

// The second lowest byte of drivers' ioctl requests. Requests to terminals, sockets and files have others.
constexpr uint64_t kOfRequests[] = {'F' /* NVIDIA's */,   'd' /* DRM's */,
                                    'K' /* KFD's */,      'm' /* nvidia-modeset's */,
                                    'b' /* memory and */, '>' /* fences that drivers share */};
constexpr uint64_t kTypeOfRequest = 0xff00;
// NVIDIA's unified memory uses plain numbers, except for its first and last request.
constexpr uint64_t kPlainRequests = 0xff, kUvmBegin = 0x30000001, kUvmEnd = 0x30000002, kAllOfRequest = 0xffffffff;

// The flags of pthread_create, and an old flag without a meaning that other C libraries add.
constexpr uint64_t kThreadFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                                  CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
constexpr uint64_t kNoMeaning = CLONE_DETACHED;

// RLIMIT_DATA does not count memory that grows like a stack, and huge pages belong to the whole machine.
constexpr uint64_t kUncounted = MAP_GROWSDOWN | MAP_HUGETLB;
// Hints of allocators and C libraries about memory. No holes in shared memory, which the host would fill when it
// touches them, or crash if there is no memory; and pages of files stay in memory, because others read them, too.
#ifndef MADV_GUARD_INSTALL  // of Linux 6.13, for stacks
constexpr int MADV_GUARD_INSTALL = 102, MADV_GUARD_REMOVE = 103;
#endif
constexpr int kAdvice[] = {MADV_NORMAL,   MADV_RANDOM,   MADV_SEQUENTIAL,    MADV_WILLNEED,    MADV_DONTNEED,
                           MADV_FREE,     MADV_HUGEPAGE, MADV_NOHUGEPAGE,    MADV_DONTDUMP,    MADV_DODUMP,
                           MADV_DONTFORK, MADV_DOFORK,   MADV_GUARD_INSTALL, MADV_GUARD_REMOVE};
// The flags for opening a file for reading.
constexpr uint64_t kReadingFlags = O_CLOEXEC | O_DIRECTORY | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK;

constexpr uint64_t kRequestFeature = 0x1023, kTiles = 18;  // ARCH_REQ_XCOMP_PERM of asm/prctl.h, XFEATURE_XTILEDATA

constexpr uint64_t kAllBits = ~uint64_t{0};

scmp_arg_cmp Equals(unsigned argument, uint64_t value) { return {argument, SCMP_CMP_EQ, value, 0}; }
// Matches if exactly these bits of `mask` are set.
scmp_arg_cmp HasOf(unsigned argument, uint64_t mask, uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

// Landlock prevents creating and changing files, except for the devices themselves.
constexpr uint64_t kDeviceFlags = kReadingFlags | O_RDWR | 0100000 /* O_LARGEFILE */;

// The first error is kept: the filter is not loaded then.
class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_ERRNO(EPERM)), seccomp_release) {
    if (context_ == nullptr) {
      Keep("seccomp", ENOMEM);
      return;
    }
    // The calls of other architectures have other numbers: i386, x32.
    Keep("seccomp: foreign architectures",
         seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
    Keep("seccomp: all threads", seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_TSYNC, 1));
    Keep("seccomp: the system's own answers", seccomp_attr_set(context_.get(), SCMP_FLTATR_API_SYSRAWRC, 1));
  }

  // Applies if all conditions hold; of several rules for a call, if one applies.
  void Rule(uint32_t action, const char* name, const std::vector<scmp_arg_cmp>& conditions = {}) {
    if (error_) return;
    const int call = seccomp_syscall_resolve_name(name);
    if (call == __NR_SCMP_ERROR) return Keep(std::string("seccomp: no system call is named ") + name, EINVAL);
    const int result = seccomp_rule_add_array(context_.get(), action, call, static_cast<unsigned>(conditions.size()),
                                              conditions.data());
    Keep(std::string("seccomp: ") + name, result == -EEXIST ? 0 : result);
  }
  void Allow(const char* name, const std::vector<scmp_arg_cmp>& conditions = {}) {
    Rule(SCMP_ACT_ALLOW, name, conditions);
  }

  std::expected<void, std::string> Load() {
    Keep("seccomp: the system does not take the filter", error_ ? 0 : seccomp_load(context_.get()));
    if (error_) return std::unexpected(*error_);
    return {};
  }

 private:
  void Keep(const std::string& tried, int result) {
    if (result != 0 && !error_) error_ = SystemError(tried, std::abs(result)).error();
  }

  const std::unique_ptr<void, void (*)(scmp_filter_ctx)> context_;
  std::optional<std::string> error_;
};

void AllowMemory(Filter* filter, bool exec_memory) {
  const uint64_t exec = exec_memory ? 0 : PROT_EXEC;
  // With a descriptor: shared memory from the host. Without one: private, so that it is counted.
  filter->Allow("mmap", {HasOf(2, exec, 0), HasOf(3, MAP_ANONYMOUS | kUncounted, 0)});
  filter->Allow("mmap",
                {HasOf(2, exec, 0), HasOf(3, MAP_ANONYMOUS | MAP_TYPE | kUncounted, MAP_ANONYMOUS | MAP_PRIVATE)});
  filter->Allow("mprotect", {HasOf(2, exec, 0)});
  for (const int advice : kAdvice) filter->Allow("madvise", {Equals(2, static_cast<uint64_t>(advice))});
}

void AllowThreadsAndSignals(Filter* filter) {
  filter->Allow("clone", {HasOf(0, kAllBits & ~kNoMeaning, kThreadFlags)});
  filter->Rule(SCMP_ACT_ERRNO(ENOSYS), "clone3");  // its flags are in memory; C libraries then call clone
  const auto self = static_cast<uint64_t>(getpid());
  filter->Allow("kill", {Equals(0, self)});
  filter->Allow("tgkill", {Equals(0, self)});
  filter->Allow("sched_setaffinity", {Equals(0, 0)});
}

void AllowHarmlessSettings(Filter* filter) {
  for (const int option : {PR_SET_NAME, PR_GET_NAME})
    filter->Allow("prctl", {Equals(0, static_cast<uint64_t>(option))});
  filter->Allow("prlimit64", {Equals(0, 0), Equals(2, 0)});  // reading its own
}

// Calls that not every framework needs, with conditions on their arguments.
void AllowMore(Filter* filter, const std::string& name) {
  if (name == "openat") return filter->Allow("openat", {HasOf(2, kAllBits & ~kReadingFlags, O_RDONLY)});
  if (name == "fcntl") {
    for (const int command : {F_GETFL, F_SETFD}) filter->Allow("fcntl", {Equals(1, static_cast<uint64_t>(command))});
    return;
  }
  // Only one operation, on this process: its threads may use AMX's tiles, whose registers the kernel then saves.
  if (name == "arch_prctl") return filter->Allow("arch_prctl", {Equals(0, kRequestFeature), Equals(1, kTiles)});
  filter->Allow(name.c_str());
}

// The kernel's driver handles operations on device files, whatever they are: this filter does not check them.
void AllowDevices(Filter* filter) {
  for (const char* name : kOfDrivers) filter->Allow(name);
  filter->Allow("openat", {HasOf(2, kAllBits & ~kDeviceFlags, O_RDONLY)});
  for (const int command : {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL}) {
    filter->Allow("fcntl", {Equals(1, static_cast<uint64_t>(command))});
  }
  // No pipe for the kernel's notifications, which its watch queues fill.
  filter->Allow("pipe2", {HasOf(1, kAllBits & ~uint64_t{O_CLOEXEC | O_NONBLOCK}, 0)});
  for (const uint64_t type : kOfRequests) filter->Allow("ioctl", {HasOf(1, kTypeOfRequest, type << 8)});
  filter->Allow("ioctl", {HasOf(1, kAllOfRequest & ~kPlainRequests, 0)});
  for (const uint64_t request : {kUvmBegin, kUvmEnd}) filter->Allow("ioctl", {HasOf(1, kAllOfRequest, request)});
  // Memory that a driver shares with a device, or between its processes. No limit counts it.
  filter->Allow("mmap", {HasOf(3, MAP_ANONYMOUS | MAP_TYPE | kUncounted, MAP_ANONYMOUS | MAP_SHARED)});
}

}  // namespace

std::expected<void, std::string> FilterSystemCalls(const SandboxOptions& options) {
  Filter filter;
  for (const char* name : kBase) filter.Allow(name);
  for (const std::string& name : options.more_calls) AllowMore(&filter, name);
  for (const char* name : kDeadly) filter.Rule(SCMP_ACT_KILL_PROCESS, name);
  AllowMemory(&filter, options.exec_memory);
  AllowThreadsAndSignals(&filter);
  AllowHarmlessSettings(&filter);
  if (options.has_devices) AllowDevices(&filter);
  return filter.Load();
}

}  // namespace wasinn::worker
