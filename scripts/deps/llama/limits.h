// Limits for libraries that have none: the allocations of a call are counted, which limits its memory, its work and its
// depth. Work without allocations is counted by lines that are added to the sources (scripts/deps/llama.sh).
#ifndef WASINN_LLAMA_LIMITS_H_
#define WASINN_LLAMA_LIMITS_H_

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "wasinn_llama_common.h"

namespace wasinn_llama {

// The limit that a call has reached.
enum class Stop { kNone, kBytes, kSteps, kStack, kAsked };

// The limits of the thread's allocations, while the object lives.
class Limited {
 public:
  explicit Limited(const wasinn_llama_call& call);
  ~Limited();
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

  Stop stop() const { return stop_; }
  uint64_t bytes() const;

  // Called before `bytes` bytes are allocated. Throws if that exceeds a limit.
  void Take(size_t bytes);
  // Called before `steps` steps that allocate nothing. Throws if they exceed a limit.
  void Work(uint64_t steps);
  // Asks the caller whether to continue.
  bool Ask();
  void Add(size_t bytes) { held_ += static_cast<int64_t>(bytes); }
  void GiveBack(size_t bytes) { held_ -= static_cast<int64_t>(bytes); }

 private:
  void Count(uint64_t steps);
  void Check(size_t asked, const void* here);

  const wasinn_llama_call& call_;
  const char* const start_;  // where its part of the stack begins, which grows downwards
  int64_t held_;
  uint64_t steps_ = 0;
  Stop stop_ = Stop::kNone;
};

// While one lives on this thread, allocations are counted, but never refused.
class Unlimited {
 public:
  Unlimited();
  ~Unlimited();
  Unlimited(const Unlimited&) = delete;
  Unlimited& operator=(const Unlimited&) = delete;
};

// Asks whether the thread's call, if it is in one, may continue: for work that allocates nothing.
bool GoesOn();
// Called before so many steps of such work, each of a few nanoseconds. Throws at the call's limits.
void Work(uint64_t steps);

// Counts memory of a call that is allocated elsewhere, while the object lives.
class HeldElsewhere {
 public:
  HeldElsewhere() = default;
  ~HeldElsewhere();
  HeldElsewhere(const HeldElsewhere&) = delete;
  HeldElsewhere& operator=(const HeldElsewhere&) = delete;

  // Called before so much more is allocated. Returns false if that exceeds a limit.
  bool Take(uint64_t bytes) noexcept;

 private:
  uint64_t bytes_ = 0;
};

char* CopyOf(const std::string& text);
// Fills in the call's error for a limit, and returns its status.
int Report(Stop stop, wasinn_llama_call* call);

// Calls `function`, whose result is the call's text, within the call's limits. No exception leaves it.
template <typename Function>
int Call(wasinn_llama_call* call, Function&& function) noexcept {
  std::string text;
  int status = WASINN_LLAMA_OK;
  call->text = nullptr;
  Stop stop = Stop::kNone;
  {
    Limited limited(*call);
    try {
      text = std::forward<Function>(function)();
    } catch (const std::exception& failed) {
      status = WASINN_LLAMA_WRONG;
      call->text = CopyOf(failed.what());
    } catch (...) {
      status = WASINN_LLAMA_WRONG;
    }
    // Also if llama.cpp has caught the error of a limit, and continued.
    stop = limited.stop();
    call->kept = limited.bytes();
  }
  if (stop != Stop::kNone) return Report(stop, call);
  if (status == WASINN_LLAMA_OK) call->text = CopyOf(text);
  return status;
}

}  // namespace wasinn_llama

#endif  // WASINN_LLAMA_LIMITS_H_
