#include "core/runtime/processors.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <thread>

namespace wasinn {

namespace {

// No value: there is no such file, or no limit ("max", -1).
std::optional<uint32_t> Quota(std::istream& time, std::istream& period) {
  double microseconds = 0, each = 0;
  if (!(time >> microseconds) || microseconds <= 0 || !(period >> each) || each <= 0) return std::nullopt;
  return static_cast<uint32_t>(std::clamp(std::ceil(microseconds / each), 1.0, 1e6));
}

std::optional<uint32_t> QuotaOf(const std::string& folder) {
  std::ifstream both(folder + "/cpu.max");  // of version 2: "200000 100000"
  if (both) return Quota(both, both);
  std::ifstream time(folder + "/cpu.cfs_quota_us"), period(folder + "/cpu.cfs_period_us");
  return Quota(time, period);
}

// The quota of a parent counts, too. In a container the path may lead outside of it: then the mounted folder is the
// container's.
std::optional<uint32_t> LeastUpwards(const std::string& mount, std::string_view path) {
  std::optional<uint32_t> least;
  for (;;) {
    while (path.ends_with('/')) path.remove_suffix(1);
    const auto one = QuotaOf(mount + std::string(path));
    if (one) least = std::min(*one, least.value_or(*one));
    if (path.empty()) return least;
    const size_t slash = path.rfind('/');
    path = path.substr(0, slash == path.npos ? 0 : slash);
  }
}

bool HasCpu(std::string_view controllers) {
  return ("," + std::string(controllers) + ",").find(",cpu,") != std::string::npos;
}

uint32_t Allowed() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) return static_cast<uint32_t>(CPU_COUNT(&allowed));
  return std::max(1U, std::thread::hardware_concurrency());  // more than a cpu_set_t has
}

}  // namespace

// Lines of "hierarchy:controllers:path"; version 2 has hierarchy 0 and no controllers.
std::optional<uint32_t> ProcessorsOfQuota(std::string_view of_process, const std::string& mount) {
  std::optional<uint32_t> least;
  while (!of_process.empty()) {
    const size_t end = std::min(of_process.find('\n'), of_process.size());
    const std::string_view line = of_process.substr(0, end);
    of_process.remove_prefix(std::min(end + 1, of_process.size()));
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && !HasCpu(controllers)) continue;
    const std::string folder = controllers.empty() ? "" : "/" + std::string(controllers);
    const auto one = LeastUpwards(mount + folder, line.substr(second + 1));
    if (one) least = std::min(*one, least.value_or(*one));
  }
  return least;
}

uint32_t Processors() {
  std::ifstream file("/proc/self/cgroup");
  const std::string of_process{std::istreambuf_iterator<char>(file), {}};
  const uint32_t allowed = Allowed();
  return std::max<uint32_t>(1, std::min(allowed, ProcessorsOfQuota(of_process, "/sys/fs/cgroup").value_or(allowed)));
}

}  // namespace wasinn
