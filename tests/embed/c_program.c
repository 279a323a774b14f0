/* The C API from C: a host, a process, a linker of Wasmtime's; and what a mistake looks like. */
#include <stdio.h>
#include <stdlib.h>
#include <wasinn/wasmtime.h>

static void check(wasinn_status* status) {
  if (status == NULL) return;
  fprintf(stderr, "%s: %s\n", wasinn_code_name(wasinn_status_code(status)), wasinn_status_message(status));
  exit(1);
}

int main(void) {
  wasinn_host* host;
  wasinn_guest* guest;
  check(wasinn_host_new(NULL, NULL, NULL, &host));
  check(wasinn_guest_new(host, NULL, &guest));
  wasm_engine_t* engine = wasm_engine_new();
  wasmtime_linker_t* linker = wasmtime_linker_new(engine);
  check(wasinn_wasmtime_link_guest(linker, guest));
  wasinn_status* again = wasinn_wasmtime_link_guest(linker, guest);
  printf("linked, then refused: %s\n", wasinn_code_name(wasinn_status_code(again)));
  wasinn_status_free(again);
  wasmtime_linker_delete(linker);
  wasm_engine_delete(engine);
  wasinn_guest_free(guest);
  wasinn_host_free(host);
  return 0;
}
