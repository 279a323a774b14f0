// The objects behind the opaque types of wasinn.h, and the translation of exceptions to statuses at the C boundary.
#pragma once

#include <wasinn/wasinn.h>

#include <exception>
#include <memory>
#include <string>

#include "core/host/config.h"
#include "core/host/host.h"

struct wasinn_status {
  wasinn_code code;
  std::string message, backend;
};

struct wasinn_config : wasinn::core::Config {};

struct wasinn_host {
  std::shared_ptr<wasinn::core::Host> host;
};

namespace wasinn::api {

// NULL for success, else a new wasinn_status. If there is no memory for one, the other one, which reports that.
wasinn_status* ToC(const core::Status& status) noexcept;
wasinn_status* OutOfMemory() noexcept;

// Runs a function that returns a core::Status. No exception reaches C.
template <typename F>
wasinn_status* Guard(F&& function) {
  try {
    return ToC(core::Guarded(function));
  } catch (const std::bad_alloc&) {  // not even for the message
    return OutOfMemory();
  }
}

// As above, for functions that return nothing: errors go to the host's log.
template <typename F>
void Guard(const core::Host& host, const char* name, F&& function) noexcept {
  try {
    try {
      function();
    } catch (const std::exception& error) {
      host.logger().Write(WASINN_LOG_ERROR, fmt::format("{}: {}", name, error.what()));
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory even for the message
  }
}

}  // namespace wasinn::api
