// How many processors this program may use.
#ifndef WASINN_CORE_PROCESSORS_H_
#define WASINN_CORE_PROCESSORS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wasinn {

// Fewer than the machine has, where it was told so: by taskset, by a cpuset, or by a quota of processor time, as a
// container's limit is one. At least 1. Any thread; asks the system each time.
uint32_t Processors();

// What the quotas of this program's cgroups come to, rounded up; nothing: there is none. `of_process`: the text of
// /proc/self/cgroup; `mount`: where cgroups are, /sys/fs/cgroup.
std::optional<uint32_t> ProcessorsOfQuota(std::string_view of_process, const std::string& mount);

}  // namespace wasinn

#endif  // WASINN_CORE_PROCESSORS_H_
