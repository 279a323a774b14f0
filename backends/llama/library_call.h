// Calls of the libraries that are compiled from llama.cpp's sources (scripts/deps/llama).
#pragma once

#include <wasinn_llama_common.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "common/error.h"
#include "common/reservation.h"

namespace wasinn::llama {

// What may end a call early.
struct CallBounds {
  const std::atomic<bool>* cancelled = nullptr;  // NULL: nobody cancels it
  backend::Reservation* reservation = nullptr;   // what it holds is charged there; NULL: to nobody
  // Bytes of the reservation that are held by what it works on, before and after; NULL: that is new.
  uint64_t* held = nullptr;
};

// The most that it may take.
struct CallLimits {
  uint64_t bytes = 0, steps = 0;  // a step takes a few nanoseconds; a block of memory some of them
  // A call may use a part of the stack. The rest is for destructors of what it has nested without going deep itself, and
  // for what calls itself without allocating.
  size_t stack = 0, stack_of_call = 0;
  bool here = false;  // on the caller's stack, of which it takes little; it prints nothing
};

// What llama.cpp's code does not take: it is wrong, or takes more than a call may.
class NotTaken : public backend::Error {
 public:
  using Error::Error;
};

// Its text. `what`: in front of what is wrong. Throws NotTaken: WASINN_ERROR_INVALID_ARGUMENT with llama.cpp's words, or
// WASINN_ERROR_TOO_LARGE for what takes too much memory, time or depth; WASINN_ERROR_TIMEOUT where it was cancelled meanwhile; what
// a reservation throws. The reservation then holds what it held, and else what is kept in addition.
std::string RunLibraryCall(const std::string& what, const CallBounds& bounds, const CallLimits& limits,
                           const std::function<int(wasinn_llama_call*)>& run);

}  // namespace wasinn::llama
