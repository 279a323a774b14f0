// How many workers a host has and had.
#pragma once

#include <atomic>
#include <cstdint>

namespace wasinn::isolation {

struct Counters {
  std::atomic<uint32_t> alive{0};
  std::atomic<uint64_t> started{0};
  std::atomic<uint64_t> lost{0};  // that ended before their guest did; known when they are next asked for something
  std::atomic<uint64_t> restarted{0};  // of the started ones, after one that was lost
  std::atomic<uint64_t> refused{0};    // for max_workers
};

}  // namespace wasinn::isolation
