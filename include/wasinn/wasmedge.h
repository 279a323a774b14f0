/* wasinn/wasmedge.h - wasi-nn for programs that embed WasmEdge through its C API.
 *
 * In WasmEdge a guest imports from the modules of a store. This adapter makes these modules for one guest. Every call
 * of them belongs to that guest, on all its threads, and uses its graphs, contexts and quotas.
 *
 * The adapter is a static library (CMake target wasinn::wasmedge). It uses the WasmEdge library of the program. Its
 * source is installed, too (share/wasinn/engines/wasmedge): compile it for another version of WasmEdge. It needs
 * WasmEdge 0.14 or later.
 *
 * If no plugin has a module wasi_ephemeral_nn, a WasmEdge_VMContext puts a module of that name without functions into
 * its store, and then takes no other. So a program with a VM loads the plugin libwasmedgePluginWasiNN.so. Or it uses
 * loader, validator and executor, as examples/embed-wasmedge does.
 */
#ifndef WASINN_WASMEDGE_H_
#define WASINN_WASMEDGE_H_

#include <wasinn/wasinn.h>
#include <wasmedge/wasmedge.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The wasi-nn modules of one guest. */
typedef struct wasinn_wasmedge wasinn_wasmedge;

/* Registers all modules of wasi-nn in `store`. Call it before the guest is instantiated. The caller keeps `guest`;
 * after wasinn_guest_free the modules refuse calls. Fails if the store has a module of one of the names, and then
 * registers none.
 *
 * Order at the end: wasinn_guest_close, which ends calls that are still inside; then the guest's instance and the
 * store, then wasinn_wasmedge_unregister, then wasinn_guest_free. The adapter cannot see WasmEdge_AsyncCancel. To end a
 * guest that is inside a long call, close the guest, or let the call's deadline pass. */
WASINN_MUST_CHECK wasinn_status* wasinn_wasmedge_register(WasmEdge_ExecutorContext* executor,
                                                          WasmEdge_StoreContext* store, wasinn_guest* guest,
                                                          wasinn_wasmedge** out);

/* Frees the modules, and takes them out of the store if it still exists. NULL is fine. */
void wasinn_wasmedge_unregister(wasinn_wasmedge* modules);

/* Makes one module, such as "wasi_ephemeral_nn", without registering it. The caller owns it, and frees it or gives it
 * to WasmEdge. When the module is freed, `ended(user)` is called on that thread; `ended` may be NULL. */
WASINN_MUST_CHECK wasinn_status* wasinn_wasmedge_module_new(const char* module, wasinn_guest* guest,
                                                            void (*ended)(void* user), void* user,
                                                            WasmEdge_ModuleInstanceContext** out);

#ifdef __cplusplus
}
#endif
#endif /* WASINN_WASMEDGE_H_ */
