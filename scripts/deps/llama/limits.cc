#include "limits.h"

#include <malloc.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace wasinn_llama {

namespace {

thread_local Limited* limited = nullptr;
thread_local int unlimited = 0;

constexpr uint64_t kStepsBetweenQuestions = 1 << 14;
// The steps for which allocating and filling a block counts.
constexpr uint64_t kStepsOfBlock = 16, kBytesOfStep = 16;
constexpr int64_t kBytesBetweenQuestions = 1 << 20;

}  // namespace

Limited::Limited(const wasinn_llama_call& call)
    : call_(call),
      start_(reinterpret_cast<const char*>(__builtin_frame_address(0))),
      held_(static_cast<int64_t>(call.kept)) {
  limited = this;
}

Limited::~Limited() { limited = nullptr; }

uint64_t Limited::bytes() const { return held_ > 0 ? static_cast<uint64_t>(held_) : 0; }

void Limited::Check(size_t asked, const void* here) {
  if (stop_ == Stop::kNone) {
    if (bytes() > call_.most_bytes) stop_ = Stop::kBytes;
    if (steps_ > call_.most_steps) stop_ = Stop::kSteps;
    if (start_ - static_cast<const char*>(here) > static_cast<std::ptrdiff_t>(call_.stack)) stop_ = Stop::kStack;
  }
  // All further allocations fail as well, so that code that catches the error and goes on does not get far. Allocations
  // while an exception is in flight must not fail.
  if (stop_ != Stop::kNone && unlimited == 0 && std::uncaught_exceptions() == 0) {
    GiveBack(asked);
    throw std::bad_alloc();
  }
}

void Limited::Count(uint64_t steps) {
  const uint64_t before = steps_;
  steps_ += steps;
  if (steps_ / kStepsBetweenQuestions > before / kStepsBetweenQuestions) Ask();
}

void Limited::Take(size_t bytes) {
  const int64_t before = held_;
  held_ += static_cast<int64_t>(bytes);
  if (held_ / kBytesBetweenQuestions > before / kBytesBetweenQuestions) Ask();
  Count(kStepsOfBlock + bytes / kBytesOfStep);
  Check(bytes, __builtin_frame_address(0));
}

void Limited::Work(uint64_t steps) {
  Count(steps);
  Check(0, __builtin_frame_address(0));
}

bool Limited::Ask() {
  if (stop_ == Stop::kNone && call_.go_on != nullptr && call_.go_on(call_.user, bytes()) == 0) stop_ = Stop::kAsked;
  return stop_ == Stop::kNone;
}

void Work(uint64_t steps) {
  if (limited != nullptr) limited->Work(steps);
}

bool GoesOn() { return limited == nullptr || limited->Ask(); }

bool HeldElsewhere::Take(uint64_t bytes) noexcept {
  if (limited == nullptr) return true;
  if (bytes == 0) return limited->Ask();
  try {
    limited->Take(bytes);
  } catch (...) {
    return false;
  }
  bytes_ += bytes;
  return true;
}

HeldElsewhere::~HeldElsewhere() {
  if (limited != nullptr) limited->GiveBack(bytes_);
}

Unlimited::Unlimited() { ++unlimited; }
Unlimited::~Unlimited() { --unlimited; }

char* CopyOf(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

int Report(Stop stop, wasinn_llama_call* call) {
  std::free(call->text);
  call->text = nullptr;
  switch (stop) {
    case Stop::kBytes:
      call->text = CopyOf("it takes more than " + std::to_string(call->most_bytes) + " bytes of memory");
      return WASINN_LLAMA_TOO_MUCH;
    case Stop::kStack:
      call->text = CopyOf("it is too deep");
      return WASINN_LLAMA_TOO_MUCH;
    case Stop::kSteps:
      call->text = CopyOf("it takes more than " + std::to_string(call->most_steps) + " steps of work");
      return WASINN_LLAMA_TOO_MUCH;
    default:
      return WASINN_LLAMA_STOPPED;
  }
}

}  // namespace wasinn_llama

// All C++ code of this library allocates by these operators, also the C++ library, which is linked statically. Other
// forms of new and delete call them.
void* operator new(size_t bytes) {
  using wasinn_llama::limited;
  // Counted before it is allocated, since one block can be larger than the limit.
  if (limited != nullptr) limited->Take(bytes);
  void* block = std::malloc(bytes == 0 ? 1 : bytes);
  if (block == nullptr) throw std::bad_alloc();
  if (limited != nullptr) limited->Add(malloc_usable_size(block) - bytes);
  return block;
}

void operator delete(void* block) noexcept {
  using wasinn_llama::limited;
  if (limited != nullptr && block != nullptr) limited->GiveBack(malloc_usable_size(block));
  std::free(block);
}

void operator delete(void* block, size_t /*bytes*/) noexcept { operator delete(block); }
