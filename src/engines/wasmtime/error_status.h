// Wasmtime's errors as wasinn's. Included beside its users by its name alone, for it is installed as source with them.
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
