// The memory that a test takes.
#ifndef WASINN_TESTS_SUPPORT_PEAK_MEMORY_H_
#define WASINN_TESTS_SUPPORT_PEAK_MEMORY_H_

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

namespace wasinn::testing {

// A number of bytes in what the system says of this OS process: "RssAnon:".
inline uint64_t MemoryField(const std::string& name) {
  std::ifstream status("/proc/self/status");
  std::string word;
  uint64_t kib = 0;
  while (status >> word) {
    if (word == name && status >> kib) break;
  }
  return kib << 10;
}

// Bytes that this OS process has had resident at most since this was made, beyond what it had then.
class PeakMemory {
 public:
  PeakMemory() : start_(MemoryField("VmRSS:")) {
    std::ofstream("/proc/self/clear_refs") << 5;  // VmHWM begins anew
  }
  uint64_t grown() const { return std::max(MemoryField("VmHWM:"), start_) - start_; }

 private:
  const uint64_t start_;
};

}  // namespace wasinn::testing

#endif  // WASINN_TESTS_SUPPORT_PEAK_MEMORY_H_
