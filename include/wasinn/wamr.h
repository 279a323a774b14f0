/* wasinn/wamr.h - wasi-nn for programs that embed WAMR, the WebAssembly Micro Runtime.
 *
 * WAMR has one runtime in an OS process. Register the functions once, after wasm_runtime_init and before any module is
 * loaded. They serve every guest. A guest is a module instance with all its threads (WAMR's cluster), which share its
 * graphs and contexts. Guests begin and end as in wasinn.h: the embedder makes them, and guest_of finds the guest of a
 * call. Without a guest_of, the first call of an instance makes its guest.
 *
 * The adapter is a static library (CMake target wasinn::wamr). It uses the WAMR library of the program. Its source is
 * installed, too (share/wasinn/engines/wamr): compile it for another version of WAMR. It needs WAMR 2.4 or later, built
 * with WAMR_BUILD_MODULE_INST_CONTEXT (which WASI turns on) and without WAMR's own wasi-nn.
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

/* Registers every function, for all modules that are loaded from now on. The first call of an instance makes a
 * wasinn_guest of `host` for it; the end of the instance closes and frees that. Fails if WAMR is not initialized, or
 * has no room for another instance context. `host` must stay valid until wasinn_wamr_unregister. */
WASINN_MUST_CHECK wasinn_status* wasinn_wamr_register(wasinn_host* host, wasinn_wamr** out);

/* Returns the guest of an instance; wasm_runtime_get_custom_data, for instance, which threads inherit. It runs at the
 * instance's first call, on the guest's thread. NULL: the guest gets runtime_error. */
typedef wasinn_guest* (*wasinn_wamr_guest_of)(wasm_module_inst_t instance, void* user);

/* The same for an embedder that makes the guests itself. It closes a guest before wasm_runtime_deinstantiate, and frees
 * it afterwards. Different programs are different guests. `user` must stay valid until wasinn_wamr_unregister. */
WASINN_MUST_CHECK wasinn_status* wasinn_wamr_register_guests(wasinn_wamr_guest_of guest_of, void* user,
                                                             wasinn_wamr** out);

/* Finds or makes the guest of an instance before its first call. Call it right after the instance is made, if the guest
 * has threads: they inherit the guest then. Without it, the first call of a thread sets the guest in all instances of
 * the guest that WAMR knows, but WAMR may miss an instance that is just starting another thread. Later calls set it
 * again. If they miss the guest's own instance each time, the adapter does not notice its end: the wasinn_guest then
 * stays until wasinn_wamr_unregister, or until another guest gets the same memory. */
WASINN_MUST_CHECK wasinn_status* wasinn_wamr_attach(wasinn_wamr* wamr, wasm_module_inst_t instance);

/* Call this after the last instance is gone and the modules are unloaded, and before wasm_runtime_destroy. NULL is
 * fine. */
void wasinn_wamr_unregister(wasinn_wamr* wamr);

#ifdef __cplusplus
}
#endif
#endif /* WASINN_WAMR_H_ */
