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

// What a C++ program with threads does when it is sealed, whatever its framework: memory, threads, clocks, its own end, and the
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
    // descriptors that it has: messages with further ones, wake-ups, a log
    "close", "poll", "ppoll", "read", "recvmsg", "sendmsg", "write", "writev",
    // about itself
    "getrandom", "sysinfo", "uname"};

// What is no accident.
constexpr const char* kDeadly[] = {"execve", "execveat", "process_vm_readv", "process_vm_writev", "ptrace"};

// Of a worker that may use devices, whose drivers
constexpr const char* kOfDrivers[] = {
    // look for devices and libraries; Landlock says what can be opened
    "access", "faccessat", "faccessat2", "fstat", "fstatfs", "getcwd", "getdents64", "lseek", "lstat", "newfstatat",
    "pread64", "readlink", "readlinkat", "stat", "statfs", "statx",
    // have threads that wait for the device and for each other
    "dup", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_wait", "eventfd2",
    // keep memory where the device finds it, near its processor, and what they compile in a file of memory that is open
    "ftruncate", "get_mempolicy", "mbind", "membarrier", "mlock", "munlock", "set_mempolicy",
    // ask who they are, and how they may run
    "getegid", "geteuid", "getgid", "getppid", "getrusage", "getuid", "sched_get_priority_max",
    "sched_get_priority_min", "sched_getparam", "sched_getscheduler", "times"};

// What a request of ioctl begins with, the second of its bytes from below: those of drivers. Not those of terminals, sockets and files.
constexpr uint64_t kOfRequests[] = {'F' /* NVIDIA's */,   'd' /* DRM's */,
                                    'K' /* KFD's */,      'm' /* nvidia-modeset's */,
                                    'b' /* memory and */, '>' /* fences that drivers share */};
constexpr uint64_t kTypeOfRequest = 0xff00;
// Those of NVIDIA's unified memory are plain numbers, but for its first and last.
constexpr uint64_t kPlainRequests = 0xff, kUvmBegin = 0x30000001, kUvmEnd = 0x30000002, kAllOfRequest = 0xffffffff;

// pthread_create's, and an old flag without a meaning that other C libraries add.
constexpr uint64_t kThreadFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                                  CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
constexpr uint64_t kNoMeaning = CLONE_DETACHED;

// Of memory that grows like a stack RLIMIT_DATA does not count, and huge pages are the whole machine's.
constexpr uint64_t kUncounted = MAP_GROWSDOWN | MAP_HUGETLB;
// What allocators and C libraries tell of memory. No holes in what the host shares, which it would fill when it touches
// that, or end where there is no memory; and pages of files stay in memory, for others read them too.
#ifndef MADV_GUARD_INSTALL  // of Linux 6.13, for stacks
constexpr int MADV_GUARD_INSTALL = 102, MADV_GUARD_REMOVE = 103;
#endif
constexpr int kAdvice[] = {MADV_NORMAL,   MADV_RANDOM,   MADV_SEQUENTIAL,    MADV_WILLNEED,    MADV_DONTNEED,
                           MADV_FREE,     MADV_HUGEPAGE, MADV_NOHUGEPAGE,    MADV_DONTDUMP,    MADV_DODUMP,
                           MADV_DONTFORK, MADV_DOFORK,   MADV_GUARD_INSTALL, MADV_GUARD_REMOVE};
// How a file may be opened for reading.
constexpr uint64_t kReadingFlags = O_CLOEXEC | O_DIRECTORY | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK;

constexpr uint64_t kRequestFeature = 0x1023, kTiles = 18;  // ARCH_REQ_XCOMP_PERM of asm/prctl.h, XFEATURE_XTILEDATA

constexpr uint64_t kAllBits = ~uint64_t{0};

scmp_arg_cmp Equals(unsigned argument, uint64_t value) { return {argument, SCMP_CMP_EQ, value, 0}; }
// Of the bits of `mask` these are set, and no others.
scmp_arg_cmp HasOf(unsigned argument, uint64_t mask, uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

// That no file is made or changed by it is for Landlock, but for the devices themselves.
constexpr uint64_t kDeviceFlags = kReadingFlags | O_RDWR | 0100000 /* O_LARGEFILE */;

// The first error is kept: the filter is not loaded then.
class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_ERRNO(EPERM)), seccomp_release) {
    if (context_ == nullptr) {
      Keep("seccomp", ENOMEM);
      return;
    }
    // Another architecture's calls have other numbers: i386, x32.
    Keep("seccomp: foreign architectures",
         seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
    Keep("seccomp: all threads", seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_TSYNC, 1));
    Keep("seccomp: the system's own answers", seccomp_attr_set(context_.get(), SCMP_FLTATR_API_SYSRAWRC, 1));
  }

  // All conditions hold; several rules of one call: one of them.
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
  // Of a descriptor: shared memory that the host made. Without one: private, so that it is counted.
  filter->Allow("mmap", {HasOf(2, exec, 0), HasOf(3, MAP_ANONYMOUS | kUncounted, 0)});
  filter->Allow("mmap",
                {HasOf(2, exec, 0), HasOf(3, MAP_ANONYMOUS | MAP_TYPE | kUncounted, MAP_ANONYMOUS | MAP_PRIVATE)});
  filter->Allow("mprotect", {HasOf(2, exec, 0)});
  for (const int advice : kAdvice) filter->Allow("madvise", {Equals(2, static_cast<uint64_t>(advice))});
}

void AllowThreadsAndSignals(Filter* filter) {
  filter->Allow("clone", {HasOf(0, kAllBits & ~kNoMeaning, kThreadFlags)});
  filter->Rule(SCMP_ACT_ERRNO(ENOSYS), "clone3");  // its flags lie in memory; C libraries then call clone
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

// What not every framework needs, with what is asked of its arguments.
void AllowMore(Filter* filter, const std::string& name) {
  if (name == "openat") return filter->Allow("openat", {HasOf(2, kAllBits & ~kReadingFlags, O_RDONLY)});
  if (name == "fcntl") {
    for (const int command : {F_GETFL, F_SETFD}) filter->Allow("fcntl", {Equals(1, static_cast<uint64_t>(command))});
    return;
  }
  // Of this process, and nothing else of it: that its threads may use AMX's tiles, whose registers the kernel keeps then.
  if (name == "arch_prctl") return filter->Allow("arch_prctl", {Equals(0, kRequestFeature), Equals(1, kTiles)});
  filter->Allow(name.c_str());
}

// Device files are the driver's in the kernel, whatever is asked of them: nothing looks into that here.
void AllowDevices(Filter* filter) {
  for (const char* name : kOfDrivers) filter->Allow(name);
  filter->Allow("openat", {HasOf(2, kAllBits & ~kDeviceFlags, O_RDONLY)});
  for (const int command : {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL}) {
    filter->Allow("fcntl", {Equals(1, static_cast<uint64_t>(command))});
  }
  // Not one of the kernel's own notes, which its watch queues fill.
  filter->Allow("pipe2", {HasOf(1, kAllBits & ~uint64_t{O_CLOEXEC | O_NONBLOCK}, 0)});
  for (const uint64_t type : kOfRequests) filter->Allow("ioctl", {HasOf(1, kTypeOfRequest, type << 8)});
  filter->Allow("ioctl", {HasOf(1, kAllOfRequest & ~kPlainRequests, 0)});
  for (const uint64_t request : {kUvmBegin, kUvmEnd}) filter->Allow("ioctl", {HasOf(1, kAllOfRequest, request)});
  // What a driver shares with a device, or between its processes. No limit counts it.
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
