/* wasinn/wasmedge.h - wasi-nn for programs that embed WasmEdge through its C API.
 *
 * In WasmEdge a store holds the modules that a guest imports from. Here they are made for one guest, to whom
 * every call of theirs belongs to: its graphs, contexts and quotas, also on several threads. The code is a static
 * library (CMake target wasinn::wasmedge) that uses the WasmEdge which the program links; its source is installed too
 * (share/wasinn/engines/wasmedge), to be compiled against another version. It needs WasmEdge 0.14 or later.
 *
 * A WasmEdge_VMContext puts an inert module of the name wasi_ephemeral_nn into its store if no plugin has one, and then
 * takes no other. A program with a VM loads the plugin libwasmedgePluginWasiNN.so, or uses loader, validator and
 * executor as examples/embed-wasmedge does.
 */
#ifndef WASINN_WASMEDGE_H_
#define WASINN_WASMEDGE_H_

#include <wasinn/wasinn.h>
#include <wasmedge/wasmedge.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A guest's modules of wasi-nn. */
typedef struct wasinn_wasmedge wasinn_wasmedge;

/* Registers all modules of wasi-nn in `store`, before the guest is instantiated. `guest` is the caller's; calls that come
 * when it has been freed are refused. Fails if the store has a module of one of the names, and then leaves those of the other names out too.
 *
 * The order at the end: wasinn_guest_close (which calls back what is still inside), the guest's instance and the
 * store, wasinn_wasmedge_unregister, wasinn_guest_free. WasmEdge cannot be asked whether a guest has been told to
 * stop (WasmEdge_AsyncCancel): to end one that is inside a long call, close it, or let the call's deadline do
 * it. */
WASINN_MUST_CHECK wasinn_status* wasinn_wasmedge_register(WasmEdge_ExecutorContext* executor,
                                                          WasmEdge_StoreContext* store, wasinn_guest* guest,
                                                          wasinn_wasmedge** out);

/* Frees the modules, which leave the store if that is still there. NULL is fine. */
void wasinn_wasmedge_unregister(wasinn_wasmedge* modules);

/* Makes one module, "wasi_ephemeral_nn" for instance, for who has another use of it; the caller frees it, or hands it
 * on. `ended`, if not NULL, is called with `user` when it goes, on whichever thread that happens. */
WASINN_MUST_CHECK wasinn_status* wasinn_wasmedge_module_new(const char* module, wasinn_guest* guest,
                                                            void (*ended)(void* user), void* user,
                                                            WasmEdge_ModuleInstanceContext** out);

#ifdef __cplusplus
}
#endif
#endif /* WASINN_WASMEDGE_H_ */
