/* wasinn/wamr.h - wasi-nn for programs that embed WAMR, the WebAssembly Micro Runtime.
 *
 * WAMR has one runtime in an OS process. The functions are registered with it once, after wasm_runtime_init and before
 * modules are loaded, and serve every guest. A guest is a module instance with all the threads that it spawns (WAMR's
 * cluster): they share its graphs and its contexts. It begins and ends as every guest does (wasinn.h): an embedder makes it and
 * says whose a call is by guest_of; where nobody says, the first call of an instance makes one. The code is a static library (CMake target
 * wasinn::wamr) that uses the WAMR which the program links; its source is installed too
 * (share/wasinn/engines/wamr), to be compiled against another version. It needs WAMR 2.4 or later, built with
 * WAMR_BUILD_MODULE_INST_CONTEXT (which WASI brings) and without WAMR's own wasi-nn.
 */
#ifndef WASINN_WAMR_H_
#define WASINN_WAMR_H_

#include <wasinn/wasinn.h>
#include <wasm_export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* wasi-nn in WAMR's runtime. */
typedef struct wasinn_wamr wasinn_wamr;

/* Registers every function, for all modules that are loaded from now on. Each guest gets a wasinn_guest of `host` at its
 * first call, which is closed and freed when its instance is. Fails if WAMR has not been initialized, or has no room for
 * another instance context. */
WASINN_MUST_CHECK wasinn_status* wasinn_wamr_register(wasinn_host* host, wasinn_wamr** out);

/* Finds a guest, at its first call and on its thread; for instance wasm_runtime_get_custom_data, which
 * threads inherit. NULL: the guest gets runtime_error. */
typedef wasinn_guest* (*wasinn_wamr_guest_of)(wasm_module_inst_t instance, void* user);

/* The same for an embedder that makes them: it closes a guest before wasm_runtime_deinstantiate and frees it after.
 * Different programs are different guests. */
WASINN_MUST_CHECK wasinn_status* wasinn_wamr_register_guests(wasinn_wamr_guest_of guest_of, void* user,
                                                             wasinn_wamr** out);

/* Optional: finds or makes a guest before its first call, right after its instance was made. Threads
 * inherit it from there. To be used for guests with threads: WAMR shows what the first call of a thread made to the
 * instances that it knows, and misses one that is starting another thread at that moment. The guest's next calls show
 * it again; if the guest's own instance is missed each time, its end goes unnoticed, and its wasinn_guest stays until
 * another guest lies where its memory was, or until wasinn_wamr_unregister. */
WASINN_MUST_CHECK wasinn_status* wasinn_wamr_attach(wasinn_wamr* wamr, wasm_module_inst_t instance);

/* To be called after the last instance is gone and the modules are unloaded, before wasm_runtime_destroy. NULL is fine.
 */
void wasinn_wamr_unregister(wasinn_wamr* wamr);

#ifdef __cplusplus
}
#endif
#endif /* WASINN_WAMR_H_ */
