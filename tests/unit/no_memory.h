// A lack of memory: this program's `operator new` throws at a point that a test chooses.
#pragma once

#include <climits>
#include <cstdint>
#include <new>

namespace wasinn::testing {

// While it lives, this thread's allocations fail after the first `allowed`: all of them, or so many.
class NoMemory {
 public:
  explicit NoMemory(int allowed, int failures = INT_MAX);
  ~NoMemory();
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;

  // How many have failed since the last one began to live.
  static int failed();
};

// The blocks of `operator new` that are not freed, of all threads.
int64_t LiveBlocks();

// Tries it without memory, then with one allocation more each time, until it has what it needs. `after_failure` looks
// at what a failure has left. Returns how often it failed.
template <typename Try, typename After>
int FailEachAllocation(const Try& attempt, const After& after_failure) {
  for (int allowed = 0;; ++allowed) {
    try {
      const NoMemory scarce(allowed);
      attempt();
      return allowed;
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): that was expected
    }
    after_failure();
  }
}

}  // namespace wasinn::testing
