// A thread whose system calls somebody looks at before they are made, and those of the threads and processes that it
// starts.
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

namespace wasinn::testing {

// The fate of a call that `thread` is about to make: 0: it is made; else it fails with this errno.
using Look = std::function<int(pid_t thread, int number)>;

// `numbers`: of the calls; none: all. `look` is called by another thread, one call at a time.
void RunLookedAt(const std::vector<int>& numbers, const Look& look, const std::function<void()>& work);

// Whether the thread belongs to this OS process.
bool IsThreadOfOurs(pid_t thread);

}  // namespace wasinn::testing
