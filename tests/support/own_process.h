// The resources of the test's OS process.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#ifdef __SANITIZE_ADDRESS__
extern "C" size_t __sanitizer_get_current_allocated_bytes();  // GCC has no header for it
#endif

namespace wasinn::testing {

inline int CountThreads() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return static_cast<int>(std::distance(begin(all), end(all)));
}
inline size_t CountDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

// The allocated memory.
inline uint64_t AllocatedBytes() {
#ifdef __SANITIZE_ADDRESS__
  return __sanitizer_get_current_allocated_bytes();
#else
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
#endif
}

// A number of bytes in what the system says of it: "RssAnon:".
inline uint64_t MemoryField(const std::string& name) {
  std::ifstream status("/proc/self/status");
  std::string word;
  uint64_t kib = 0;
  while (status >> word) {
    if (word == name && status >> kib) break;
  }
  return kib << 10;
}

inline uint64_t ResidentBytes() { return MemoryField("VmRSS:"); }

// Bytes that it has had resident at most since this was made, beyond what it had then.
class PeakMemory {
 public:
  PeakMemory() : start_(ResidentBytes()) {
    std::ofstream("/proc/self/clear_refs") << 5;  // resets VmHWM
  }
  uint64_t grown() const { return std::max(MemoryField("VmHWM:"), start_) - start_; }

 private:
  const uint64_t start_;
};

}  // namespace wasinn::testing
