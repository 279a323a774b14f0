// What /proc tells of this process and of its host's workers.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace wasinn::soak {

struct Process {
  pid_t pid = 0, parent = 0;
  bool has_ended = false;  // and nobody has asked how
  uint64_t rss_kib = 0;
};

// Of this process.
struct Self {
  uint64_t rss_kib = 0, threads = 0, descriptors = 0;
  uint64_t heap_kib = 0;  // that malloc has given and not got back
};
Self LookAtSelf();

// The processes of a host. Templates are known by the path by which they were started, which is no other host's; workers
// are children of templates.
struct Workers {
  std::vector<Process> templates, workers;
};
Workers FindWorkers(const std::string& program);

// Ends one of them, whichever. False: there was none.
bool KillOne(const std::string& program, std::mt19937_64& random);

}  // namespace wasinn::soak
