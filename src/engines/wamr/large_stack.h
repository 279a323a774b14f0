// Calls that need more stack than a guest's thread has: WAMR gives its threads 128 KiB.
#pragma once

#include <functional>

namespace wasinn::wamr {

// Whether this thread's stack is smaller than what frameworks expect.
bool HasSmallStack();

// Runs it on another thread, which this thread keeps for the next time, and waits.
void RunOnLargeStack(const std::function<void()>& call);

}  // namespace wasinn::wamr
