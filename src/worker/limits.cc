#include "worker/limits.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/descriptor.h"
#include "worker/system_error.h"

namespace wasinn::worker {
namespace {

constexpr rlim_t kFirstStack = 8u << 20;
constexpr int kNice = 10;
// Addresses that malloc reserves for its arenas and does not use.
constexpr uint64_t kSetAside = uint64_t{1} << 30;

rlim_t Sum(uint64_t a, uint64_t b) { return a > RLIM_INFINITY - b ? RLIM_INFINITY : a + b; }

}  // namespace

std::expected<void, std::string> Limit(int resource, const char* name, uint64_t most) {
  rlimit limit = {};
  if (getrlimit(resource, &limit) != 0) return SystemError(std::string("cannot read ") + name);
  limit.rlim_cur = limit.rlim_max = std::min<rlim_t>(limit.rlim_max, most);
  if (setrlimit(resource, &limit) != 0) return SystemError(std::string("cannot set ") + name);
  return {};
}

void OfferToOutOfMemoryKiller() {
  const base::Descriptor file(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  constexpr std::string_view kFirst = "1000";
  if (file.is_open()) static_cast<void>(!write(file.number(), kFirst.data(), kFirst.size()));
}

std::expected<void, std::string> LimitSelf(uint64_t most_descriptors) {
  OfferToOutOfMemoryKiller();
  if (auto limited = Limit(RLIMIT_CORE, "RLIMIT_CORE", 0); !limited) return limited;
  // For the first thread, whose stack no other limit counts.
  if (auto limited = Limit(RLIMIT_STACK, "RLIMIT_STACK", kFirstStack); !limited) return limited;
  if (auto limited = Limit(RLIMIT_NOFILE, "RLIMIT_NOFILE", most_descriptors); !limited) return limited;
  const int now = getpriority(PRIO_PROCESS, 0);
  if (now < kNice && setpriority(PRIO_PROCESS, 0, kNice) != 0) return SystemError("cannot be nice");
  return {};
}

std::expected<void, std::string> LimitFiles(uint64_t most_bytes) {
  if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR) return SystemError("cannot ignore SIGXFSZ");
  return Limit(RLIMIT_FSIZE, "RLIMIT_FSIZE", most_bytes);
}

std::expected<void, std::string> LimitMemory(const SelfStatus& status, uint64_t more_bytes) {
  const auto data = status.data_bytes();
  if (!data) return std::unexpected("/proc/self/status has no VmData");
  return Limit(RLIMIT_DATA, "RLIMIT_DATA", Sum(*data, more_bytes));
}

std::expected<void, std::string> LimitAddresses(const SelfStatus& status, uint64_t more_bytes) {
  const auto all = status.all_bytes();
  if (!all) return std::unexpected("/proc/self/status has no VmSize");
  // Read-only and shared memory does not count as data.
  return Limit(RLIMIT_AS, "RLIMIT_AS", Sum(*all, Sum(Sum(more_bytes, more_bytes), kSetAside)));
}

}  // namespace wasinn::worker
