// The memory and the processes of this program and of its host's workers, from /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace wasinn::soak {

struct Process {
  pid_t pid = 0, parent = 0;
  bool has_ended = false;  // of children that have not been waited for
  uint64_t rss_kib = 0;
};

// Measures this process.
struct Self {
  uint64_t rss_kib = 0, threads = 0, descriptors = 0;
  uint64_t heap_kib = 0;  // allocated by malloc and not freed
};
Self LookAtSelf();

// The processes of a host. Templates are known by the path by which they were started, which is unique to their host.
// Workers are children of templates.
struct Workers {
  std::vector<Process> templates, workers;
};
Workers FindWorkers(const std::string& program);

// Kills a random one. Returns false if there is none.
bool KillOne(const std::string& program, std::mt19937_64& random);

}  // namespace wasinn::soak
