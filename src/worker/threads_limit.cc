#include "worker/threads_limit.h"

#include <sched.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "worker/limits.h"

namespace wasinn::worker {
namespace {

// For a host's channels, which have stacks of their own.
constexpr uint64_t kSomeMore = 64;
// The smallest stack that a framework gives its threads: oneTBB's.
constexpr uint64_t kStack = 4u << 20;
constexpr uint64_t kMaxOfAll = 4096;

// A user without other processes. Permissions of files depend on the effective user, which stays.
bool BecomeAnotherUser() {
  constexpr uid_t kFirst = 3'000'000'000, kCount = 1u << 30, kAsItIs = static_cast<uid_t>(-1);
  uid_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) return false;
  return setresuid(kFirst + random % kCount, kAsItIs, kAsItIs) == 0;
}

// From Linux 5.14 on each namespace has its own count.
bool EnterNamespaceThatCounts() {
  utsname system = {};
  int version = 0, more = 0;
  if (uname(&system) != 0 || std::sscanf(system.release, "%d.%d", &version, &more) != 2) return false;
  return (version > 5 || (version == 5 && more >= 14)) && unshare(CLONE_NEWUSER) == 0;
}

uint64_t NumberIn(const char* path) {
  uint64_t number = 0;
  return std::ifstream(path) >> number ? number : RLIM_INFINITY;
}

}  // namespace

std::expected<bool, std::string> CountThreadsApart() {
  if (BecomeAnotherUser() || EnterNamespaceThatCounts()) return true;
  rlimit limit = {};
  uint64_t most = std::min(NumberIn("/proc/sys/kernel/threads-max"), NumberIn("/proc/sys/kernel/pid_max"));
  if (getrlimit(RLIMIT_NPROC, &limit) == 0) most = std::min<uint64_t>(most, limit.rlim_cur);
  auto limited = Limit(RLIMIT_NPROC, "RLIMIT_NPROC", most / 2);
  if (!limited) return std::unexpected(std::move(limited.error()));
  return false;
}

std::expected<void, std::string> LimitThreads(const SelfStatus& status, uint64_t max_bytes) {
  const auto now = status.threads();
  if (!now) return std::unexpected("/proc/self/status has no Threads");
  const uint64_t more = max_bytes == 0 ? kMaxOfAll : std::min(kMaxOfAll, kSomeMore + max_bytes / kStack);
  return Limit(RLIMIT_NPROC, "RLIMIT_NPROC", *now + more);
}

}  // namespace wasinn::worker
