// Turns Wasmtime's errors into wasinn's. Included without a folder, because it is installed next to its users.
#pragma once

#include <wasinn/wasmtime.h>

#include <cstdio>

namespace wasinn::wasmtime {

// Deletes the error.
inline wasinn_status* ToStatus(wasmtime_error_t* error) {
  wasm_name_t message;
  wasmtime_error_message(error, &message);
  char text[512];
  std::snprintf(text, sizeof text, "%.*s", static_cast<int>(message.size), message.data);
  wasm_name_delete(&message);
  wasmtime_error_delete(error);
  return wasinn_status_new(WASINN_ERROR_INVALID_ARGUMENT, text);
}

}  // namespace wasinn::wasmtime
