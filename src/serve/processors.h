// Processors that this program may use: fewer than the machine has, where it was told so (taskset, cpusets of containers).
#pragma once

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <thread>

namespace wasinn::serve {

inline size_t Processors() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) return static_cast<size_t>(CPU_COUNT(&allowed));
  return std::max(1u, std::thread::hardware_concurrency());  // more than a cpu_set_t knows
}

}  // namespace wasinn::serve
