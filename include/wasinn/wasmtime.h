/* wasinn/wasmtime.h - wasi-nn for programs that embed Wasmtime through its C API.
 *
 * The functions go into the embedder's own linker, once. The adapter finds the guest at each call, so one linker and
 * one pre-linked module (wasmtime_instance_pre_t) serve any number of guests. The adapter is a static library
 * (libwasinn_wasmtime.a, CMake target wasinn::wasmtime). It uses the Wasmtime library of the program. Its source is
 * installed, too (share/wasinn/engines/wasmtime): compile it for another major version of Wasmtime.
 */
#ifndef WASINN_WASMTIME_H_
#define WASINN_WASMTIME_H_

#include <wasinn/wasinn.h>
#include <wasmtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the guest that makes a call; wasmtime_context_get_data(context), for instance. It runs at every call, on the
 * guest's thread. NULL: the guest gets runtime_error. */
typedef wasinn_guest* (*wasinn_wasmtime_guest_of)(wasmtime_context_t* context, void* user);

/* Defines every wasi-nn function in `linker`. `host` is for log messages of the adapter; it has none today, and `host`
 * may be NULL. `host` and `user` must outlive the linker. Fails if the linker has a function of the same name already
 * and does not allow shadowing. */
wasinn_status* wasinn_wasmtime_link(wasmtime_linker_t* linker, wasinn_host* host, wasinn_wasmtime_guest_of guest_of,
                                    void* user) WASINN_MUST_CHECK;

/* The guest that makes a call, and its memory: a memory of its own store, or a shared one. */
typedef struct wasinn_wasmtime_caller {
  wasinn_guest* guest;             /* NULL: the guest gets runtime_error */
  const wasmtime_extern_t* memory; /* the calling instance's; NULL: the adapter looks up "memory" at each call */
} wasinn_wasmtime_caller;
typedef wasinn_wasmtime_caller (*wasinn_wasmtime_caller_of)(wasmtime_context_t* context, void* user);

/* As wasinn_wasmtime_link, for an embedder that knows a guest's memory: for instance, if each store has one instance.
 * This makes calls much faster, because the look-up by name is most of a call's cost. A guest with threads has a store
 * for each thread, and all its stores name the same guest. If a thread may outlive its guest, its store names a
 * reference (wasinn_guest_retain). */
wasinn_status* wasinn_wasmtime_link_callers(wasmtime_linker_t* linker, wasinn_host* host,
                                            wasinn_wasmtime_caller_of caller_of, void* user) WASINN_MUST_CHECK;

/* As wasinn_wasmtime_link, for one guest: every call belongs to `guest`. `guest` must outlive the linker. */
wasinn_status* wasinn_wasmtime_link_guest(wasmtime_linker_t* linker, wasinn_guest* guest) WASINN_MUST_CHECK;

#ifdef WASMTIME_FEATURE_ASYNC
/* The guest that makes a call, if it runs in wasmtime_func_call_async. A call that may block is done by a thread of the
 * host (wasinn_guest_call_begin). Meanwhile the guest's future is pending, and the polling thread may run other guests.
 * So calls never hold up an event loop. */
typedef struct wasinn_wasmtime_async_caller {
  wasinn_guest* guest;             /* NULL: the guest gets runtime_error, and a component traps */
  const wasmtime_extern_t* memory; /* as in wasinn_wasmtime_caller; not read for components */
  /* Called when the guest's call is over: poll its future again, unless the future has ended already. (A poll may see
   * the end of the call earlier than this.) Called from any thread, perhaps within the poll that began the call. It
   * must not block and must not call wasinn or Wasmtime. It may still run after the future has ended or was deleted, so
   * `user` must stay valid until wasinn_guest_close has returned. NULL: no call. */
  void (*wake)(void* user);
  void* user;
} wasinn_wasmtime_async_caller;
typedef wasinn_wasmtime_async_caller (*wasinn_wasmtime_async_caller_of)(wasmtime_context_t* context, void* user);

/* As wasinn_wasmtime_link, for guests that run in wasmtime_func_call_async. Deleting a future while its guest waits
 * for a call closes that guest, and waits until the call is over. */
wasinn_status* wasinn_wasmtime_link_async(wasmtime_linker_t* linker, wasinn_host* host,
                                          wasinn_wasmtime_async_caller_of caller_of, void* user) WASINN_MUST_CHECK;
#endif

#ifdef WASMTIME_FEATURE_COMPONENT_MODEL
/* Components: wasi:nn 0.2.0-rc-2024-10-28, -08-19 and -06-25; and 0.3.0-draft, if the engine has asynchronous functions
 * (wasmtime_config_concurrency_support_set). A component that imports 0.3.0-draft is instantiated and called by
 * functions that return futures. All need a Wasmtime library with typed host functions for wasi:nn.
 * scripts/deps.sh wasmtime-component builds one, which has Wasmtime's whole C API, too. With any other library the
 * functions below fail, and the message says so. */

/* Defines wasi:nn in `linker`, once for all guests, as wasinn_wasmtime_link does. If guest_of returns NULL, the guest
 * traps. */
wasinn_status* wasinn_wasmtime_component_link(wasmtime_component_linker_t* linker, wasinn_host* host,
                                              wasinn_wasmtime_guest_of guest_of, void* user) WASINN_MUST_CHECK;

/* The same for one guest: every call belongs to `guest`. `guest` must outlive the linker. */
wasinn_status* wasinn_wasmtime_component_link_guest(wasmtime_component_linker_t* linker,
                                                    wasinn_guest* guest) WASINN_MUST_CHECK;

/* Call this once for each store of a component. Wasmtime has its own guards against large calls (128 MiB, 100,000
 * handles). This raises them if the guest's limits allow more; the guest's limits hold in any case. Call it also for a
 * store of core modules whose guests read or write 128 MiB in one WASI call, which fails otherwise. Does nothing if the
 * Wasmtime library cannot serve components. */
void wasinn_wasmtime_component_set_up(wasmtime_context_t* context, const wasinn_guest* guest);

/* A component with linked imports, as wasmtime_instance_pre_t is for modules. It serves any thread and any number of
 * stores, and may outlive the linker and the component. Errors are Wasmtime's; the caller deletes them. */
typedef struct wasinn_wasmtime_component_pre wasinn_wasmtime_component_pre;
wasmtime_error_t* wasinn_wasmtime_component_pre_new(const wasmtime_component_linker_t* linker,
                                                    const wasmtime_component_t* component,
                                                    wasinn_wasmtime_component_pre** out) WASINN_MUST_CHECK;
wasmtime_error_t* wasinn_wasmtime_component_pre_instantiate(const wasinn_wasmtime_component_pre* pre,
                                                            wasmtime_context_t* context,
                                                            wasmtime_component_instance_t* out) WASINN_MUST_CHECK;
void wasinn_wasmtime_component_pre_delete(wasinn_wasmtime_component_pre* pre); /* NULL is fine */

#ifdef WASMTIME_FEATURE_ASYNC
/* As wasinn_wasmtime_component_link, for components that run in the two functions below. Their futures are pending
 * while the host does what may block, as with wasinn_wasmtime_link_async; dropping a graph or a context may block, too.
 * WASI's own functions (wasmtime_component_linker_add_wasip2) still block the polling thread. */
wasinn_status* wasinn_wasmtime_component_link_async(wasmtime_component_linker_t* linker, wasinn_host* host,
                                                    wasinn_wasmtime_async_caller_of caller_of,
                                                    void* user) WASINN_MUST_CHECK;

/* Only some builds of Wasmtime's C API have these for components. They return futures like wasmtime_func_call_async:
 * poll one with wasmtime_call_future_poll, and delete it with wasmtime_call_future_delete. A store has one future at a
 * time. All arguments must stay valid until it is deleted. Set *error to NULL before. If the call fails, *error is set,
 * and the caller owns it. A NULL future: the call has failed already. */
wasmtime_call_future_t* wasinn_wasmtime_component_pre_instantiate_async(const wasinn_wasmtime_component_pre* pre,
                                                                        wasmtime_context_t* context,
                                                                        wasmtime_component_instance_t* out,
                                                                        wasmtime_error_t** error) WASINN_MUST_CHECK;
wasmtime_call_future_t* wasinn_wasmtime_component_func_call_async(const wasmtime_component_func_t* function,
                                                                  wasmtime_context_t* context,
                                                                  const wasmtime_component_val_t* args, size_t nargs,
                                                                  wasmtime_component_val_t* results, size_t nresults,
                                                                  wasmtime_error_t** error) WASINN_MUST_CHECK;
#endif
#endif

#ifdef __cplusplus
}
#endif
#endif /* WASINN_WASMTIME_H_ */
