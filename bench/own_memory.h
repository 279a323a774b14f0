// The memory of this OS process.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

namespace wasinn::bench {

// A field of /proc/self/status, in KiB: "VmRSS:" is the current memory, "VmHWM:" its peak.
inline long MemoryKib(std::string_view field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) return std::stol(line.substr(field.size()));
  }
  return 0;
}

}  // namespace wasinn::bench
