// Counts the workers of a host.
#pragma once

#include <atomic>
#include <cstdint>

namespace wasinn::isolation {

struct Counters {
  std::atomic<uint32_t> alive{0};
  std::atomic<uint64_t> started{0};
  std::atomic<uint64_t> lost{0};       // ended before their guest; noticed at the next request
  std::atomic<uint64_t> restarted{0};  // started after a loss
  std::atomic<uint64_t> refused{0};    // because of max_workers
};

}  // namespace wasinn::isolation
