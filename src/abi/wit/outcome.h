// The end of a function of wasi:nn: a value, an error object for the guest, or a trap.
#pragma once

#include <wasinn/wit.h>

#include <exception>
#include <new>
#include <string>
#include <type_traits>

#include "core/host/guest.h"

namespace wasinn::abi {

// The status of a trap; NULL for success.
wasinn_status* Trap(const core::Status& status);

// Makes the error object of a result<T, error>, with the whole message of core and framework. A trap if the guest holds
// too many.
core::Status ToErrorObject(wasinn_guest& guest, const char* function, const core::Status& status,
                           wasinn_wit_result& out);

// Runs one function for a guest. `body` returns a Status: an error is a trap.
template <typename Body>
wasinn_status* WithGuest(wasinn_guest* guest, const Body& body) {
  try {
    if (guest == nullptr) return Trap(core::Error(WASINN_ERROR_RUNTIME, "this guest is not known to wasinn"));
    const core::Guest::Call presence(*guest);
    if (!presence) return Trap(core::Error(WASINN_ERROR_RUNTIME, "the guest is closed"));
    return Trap(body());
  } catch (const std::bad_alloc&) {
    return wasinn_status_new(WASINN_ERROR_RUNTIME, "the host is out of memory");  // allocates nothing
  } catch (const std::exception& error) {
    return wasinn_status_new(WASINN_ERROR_RUNTIME, error.what());
  }
}

// As above, for a function that returns a result<T, error>. `body` returns a Status, or the rep of a resource.
template <typename Body>
wasinn_status* WithResult(wasinn_guest* guest, const char* function, wasinn_wit_result& out, const Body& body) {
  return WithGuest(guest, [&]() -> core::Status {
    out = {.is_error = 0, .rep = 0};
    const core::Status status = core::Guarded([&]() -> core::Status {
      if constexpr (std::is_same_v<decltype(body()), core::Status>) {
        return body();
      } else {
        ASSIGN_OR_RETURN(out.rep, body());
        return {};
      }
    });
    return status.ok() ? core::Status() : ToErrorObject(*guest, function, status, out);
  });
}

}  // namespace wasinn::abi
