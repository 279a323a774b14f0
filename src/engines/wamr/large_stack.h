// Calls that need more stack than a guest's thread has: WAMR gives its threads 128 KiB, and compiled guests may have
// used nearly all of any thread's.
#pragma once

#include <cstddef>
#include <functional>

namespace wasinn::wamr {

inline constexpr size_t kStackOfFrameworks = size_t{1} << 20;  // what they expect to have
inline constexpr size_t kStackOfCalls = size_t{48} << 10;      // what any function of ours may need, several times

// How much of what WAMR lets guests have of this thread's stack is left. Very much for a stack that is not the
// thread's.
size_t StackLeft();

// Runs it on another thread, which this thread keeps for the next time, and waits.
void RunOnLargeStack(const std::function<void()>& call);

}  // namespace wasinn::wamr
