// Limits for code of others that knows none: what a call allocates is counted, and that is what its work and its depth
// are known by. Work without allocations is counted by lines that are added to the sources (scripts/deps/llama.sh).
#ifndef WASINN_LLAMA_LIMITS_H_
#define WASINN_LLAMA_LIMITS_H_

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "wasinn_llama_common.h"

namespace wasinn_llama {

// Which limit a call has met.
enum class Stop { kNone, kBytes, kSteps, kStack, kAsked };

// The limits of the thread's allocations while it lives.
class Limited {
 public:
  explicit Limited(const wasinn_llama_call& call);
  ~Limited();
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

  Stop stop() const { return stop_; }
  uint64_t bytes() const;

  // Before a block of so many is allocated. Throws where it must not be.
  void Take(size_t bytes);
  // Before so many steps that allocate nothing. Throws likewise.
  void Work(uint64_t steps);
  // Whether to go on, by what the caller says now.
  bool Ask();
  void Add(size_t bytes) { held_ += static_cast<int64_t>(bytes); }
  void GiveBack(size_t bytes) { held_ -= static_cast<int64_t>(bytes); }

 private:
  void Count(uint64_t steps);
  void Check(size_t asked, const void* here);

  const wasinn_llama_call& call_;
  const char* const start_;  // of what it may use of the stack, which grows downwards
  int64_t held_;
  uint64_t steps_ = 0;
  Stop stop_ = Stop::kNone;
};

// While one lives on this thread, what is allocated is counted, but never refused.
class Unlimited {
 public:
  Unlimited();
  ~Unlimited();
  Unlimited(const Unlimited&) = delete;
  Unlimited& operator=(const Unlimited&) = delete;
};

// Whether the thread's call, if it is in one, is to go on: for work that allocates nothing.
bool GoesOn();
// Before so many steps of such work, each of a few nanoseconds. Throws at the call's limits.
void Work(uint64_t steps);

// What a call holds that is allocated elsewhere, counted while this lives.
class HeldElsewhere {
 public:
  HeldElsewhere() = default;
  ~HeldElsewhere();
  HeldElsewhere(const HeldElsewhere&) = delete;
  HeldElsewhere& operator=(const HeldElsewhere&) = delete;

  // Before so many more are allocated. False: they must not be.
  bool Take(uint64_t bytes) noexcept;

 private:
  uint64_t bytes_ = 0;
};

char* CopyOf(const std::string& text);
// What the caller is told of a limit.
int Told(Stop stop, wasinn_llama_call* call);

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
    // Also where llama.cpp has caught what it met there, and gone on without.
    stop = limited.stop();
    call->kept = limited.bytes();
  }
  if (stop != Stop::kNone) return Told(stop, call);
  if (status == WASINN_LLAMA_OK) call->text = CopyOf(text);
  return status;
}

}  // namespace wasinn_llama

#endif  // WASINN_LLAMA_LIMITS_H_
