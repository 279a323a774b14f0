// Calls of the libraries that are built from llama.cpp's sources (scripts/deps/llama).
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

// The conditions that end a call early.
struct CallBounds {
  const std::atomic<bool>* cancelled = nullptr;  // NULL: not cancellable
  backend::Reservation* reservation = nullptr;   // pays for the memory of the result; NULL: not charged
  // The part of the reservation for the object that the call changes, before and after; NULL: a new object.
  uint64_t* held = nullptr;
};

// The limits of a call.
struct CallLimits {
  uint64_t bytes = 0, steps = 0;  // a step takes a few nanoseconds; a memory block counts as several
  // The part of the stack that a call may use. The rest is for destructors of deep structures, and for recursion
  // without allocations.
  size_t stack = 0, stack_of_call = 0;
  bool here = false;  // runs on the caller's stack, of which it needs little; prints nothing
};

// llama.cpp's code refuses the input: it is invalid, or exceeds the limits of a call.
class NotTaken : public backend::Error {
 public:
  using Error::Error;
};

// Returns the call's text. `what`: the beginning of messages. Throws NotTaken (WASINN_ERROR_INVALID_ARGUMENT with
// llama.cpp's message, or WASINN_ERROR_TOO_LARGE beyond the limits of memory, time or depth), WASINN_ERROR_TIMEOUT if
// cancelled, and errors of the reservation, which then is as before; otherwise it also has the kept memory.
std::string RunLibraryCall(const std::string& what, const CallBounds& bounds, const CallLimits& limits,
                           const std::function<int(wasinn_llama_call*)>& run);

}  // namespace wasinn::llama
