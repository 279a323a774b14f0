// How a function of wasi:nn ends: with a value, with an error object for the guest, or with a trap.
#pragma once

#include <wasinn/wit.h>

#include <exception>
#include <new>
#include <string>

#include "core/host/guest.h"

namespace wasinn::abi {

// NULL for success. A status for which the engine traps.
wasinn_status* Trap(const core::Status& status);

// Makes the error object of a result<T, error>; its message has all that core and framework said. A trap if the guest
// holds too many.
core::Status ToErrorObject(wasinn_guest& guest, const char* function, const core::Status& status,
                           wasinn_wit_result& out);

// Runs one function for a guest. `body` returns a Status, which traps if it is no success.
template <typename Body>
wasinn_status* WithGuest(wasinn_guest* guest, const Body& body) {
  try {
    if (guest == nullptr) return Trap(core::Error(WASINN_ERROR_RUNTIME, "this guest is not known to wasinn"));
    const core::Guest::Call presence(*guest);
    if (!presence) return Trap(core::Error(WASINN_ERROR_RUNTIME, "the guest is closed"));
    return Trap(body());
  } catch (const std::bad_alloc&) {
    return wasinn_status_new(WASINN_ERROR_RUNTIME, "the host is out of memory");  // needs none
  } catch (const std::exception& error) {
    return wasinn_status_new(WASINN_ERROR_RUNTIME, error.what());
  }
}

// The same for a function that returns a result<T, error>. `body` returns a Result<uint32_t>, the rep of a resource or
// 0.
template <typename Body>
wasinn_status* WithResult(wasinn_guest* guest, const char* function, wasinn_wit_result& out, const Body& body) {
  return WithGuest(guest, [&]() -> core::Status {
    const core::Result<uint32_t> rep = [&]() -> core::Result<uint32_t> {
      try {
        return body();
      } catch (const std::bad_alloc&) {
        return core::Fail(WASINN_ERROR_RUNTIME, "the host is out of memory");
      } catch (const std::exception& error) {
        return std::unexpected(core::Status(WASINN_ERROR_RUNTIME, error.what()));
      }
    }();
    if (!rep) return ToErrorObject(*guest, function, rep.error(), out);
    out = {.is_error = 0, .rep = *rep};
    return {};
  });
}

}  // namespace wasinn::abi
