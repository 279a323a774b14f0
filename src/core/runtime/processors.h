// The number of processors that this program may use.
#ifndef WASINN_CORE_PROCESSORS_H_
#define WASINN_CORE_PROCESSORS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wasinn {

// At least 1. Fewer than the machine has, if taskset, a cpuset, or a quota of processor time (like a container's)
// limits the program. Thread-safe; asks the system each time.
uint32_t Processors();

// The limit by the quotas of this program's cgroups, rounded up; no value: there is none. `of_process`: the text of
// /proc/self/cgroup; `mount`: the folder of cgroups, /sys/fs/cgroup.
std::optional<uint32_t> ProcessorsOfQuota(std::string_view of_process, const std::string& mount);

}  // namespace wasinn

#endif  // WASINN_CORE_PROCESSORS_H_
