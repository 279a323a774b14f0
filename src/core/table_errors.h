// Turns a Status into the errors that functions of a wasinn_backend return, for backends inside of the core.
#pragma once

#include <wasinn/backend.h>

#include <exception>
#include <new>

#include "core/status.h"

namespace wasinn::core {

wasinn_error* OutOfMemory() noexcept;
// NULL for success.
wasinn_error* ToError(const Status& status) noexcept;

// Catches all exceptions: none may pass through C.
template <typename Function>
wasinn_error* CatchAll(Function&& function) noexcept {
  try {
    return ToError(function());
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  } catch (const std::exception& error) {
    return ToError(Status(WASINN_ERROR_RUNTIME, error.what()));
  }
}

}  // namespace wasinn::core
