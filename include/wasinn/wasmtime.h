/* wasinn/wasmtime.h - wasi-nn for programs that embed Wasmtime through its C API.
 *
 * The functions go into the embedder's own linker, once; the guest is found at each call, so that one linker
 * and one pre-linked module (wasmtime_instance_pre_t) serve any number of guests. The code is a static library
 * (libwasinn_wasmtime.a, CMake target wasinn::wasmtime) that uses the Wasmtime which the program links; its source is
 * installed too (share/wasinn/engines/wasmtime), to be compiled against another major version.
 */
#ifndef WASINN_WASMTIME_H_
#define WASINN_WASMTIME_H_

#include <wasinn/wasinn.h>
#include <wasmtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Finds the guest that is calling, for instance wasmtime_context_get_data(context). Called at every
 * call, on the guest's thread. NULL: the guest gets runtime_error. */
typedef wasinn_guest* (*wasinn_wasmtime_guest_of)(wasmtime_context_t* context, void* user);

/* Defines every wasi-nn function in `linker`. `host` may be NULL: it is for what an adapter may have to log, and
 * nothing is today. It and `user` must outlive the linker. Fails if a function of the same name is defined already and
 * the linker does not allow shadowing. */
wasinn_status* wasinn_wasmtime_link(wasmtime_linker_t* linker, wasinn_host* host, wasinn_wasmtime_guest_of guest_of,
                                    void* user) WASINN_MUST_CHECK;

/* A guest that is calling, and its memory: one of its own store, or shared. */
typedef struct wasinn_wasmtime_caller {
  wasinn_guest* guest;             /* NULL: the guest gets runtime_error */
  const wasmtime_extern_t* memory; /* the calling instance's; NULL: its export "memory" is looked up at each call */
} wasinn_wasmtime_caller;
typedef wasinn_wasmtime_caller (*wasinn_wasmtime_caller_of)(wasmtime_context_t* context, void* user);

/* As wasinn_wasmtime_link, for an embedder that knows a guest's memory, as it does where each store has one instance:
 * looking it up by its name is most of what a call costs. A guest with threads has a store for each: all of them name
 * the same guest. Where a thread may live on when its guest is freed, its store names a reference (wasinn_guest_retain). */
wasinn_status* wasinn_wasmtime_link_callers(wasmtime_linker_t* linker, wasinn_host* host,
                                            wasinn_wasmtime_caller_of caller_of, void* user) WASINN_MUST_CHECK;

/* The same for one guest: every call belongs to `guest`, which must outlive the linker. */
wasinn_status* wasinn_wasmtime_link_guest(wasmtime_linker_t* linker, wasinn_guest* guest) WASINN_MUST_CHECK;

#ifdef WASMTIME_FEATURE_ASYNC
/* A guest that is calling and is run by wasmtime_func_call_async. While the host does what may block, on a thread of its own
 * (wasinn_guest_call_begin), the guest's future rests, and the thread that polls it may run other guests: so an event loop is
 * never held up. */
typedef struct wasinn_wasmtime_async_caller {
  wasinn_guest* guest;             /* NULL: the guest gets runtime_error, and a component traps */
  const wasmtime_extern_t* memory; /* as in wasinn_wasmtime_caller; of a component nobody looks at it */
  /* The call that the guest waits for is over: its future is to be polled again, unless it has ended meanwhile, for a poll may see
   * the end of a call before this comes. From any thread, also within the poll that began the call; must not block and must not call wasinn or Wasmtime. It may
   * still run when the future has ended or is gone: `user` stays until wasinn_guest_close has returned. NULL: nobody is told. */
  void (*wake)(void* user);
  void* user;
} wasinn_wasmtime_async_caller;
typedef wasinn_wasmtime_async_caller (*wasinn_wasmtime_async_caller_of)(wasmtime_context_t* context, void* user);

/* As wasinn_wasmtime_link, for stores whose guests are called so. A future that is deleted while its guest waits for a call
 * closes that guest, and waits until the call is over. */
wasinn_status* wasinn_wasmtime_link_async(wasmtime_linker_t* linker, wasinn_host* host,
                                          wasinn_wasmtime_async_caller_of caller_of, void* user) WASINN_MUST_CHECK;
#endif

#ifdef WASMTIME_FEATURE_COMPONENT_MODEL
/* Components: wasi:nn 0.2.0-rc-2024-10-28, -08-19 and -06-25. They need a Wasmtime library that has typed host
 * functions for it, which scripts/deps.sh wasmtime-component builds (a Wasmtime with the whole C API); with another one
 * the functions below fail with one line that says so. */

/* Defines wasi:nn in `linker`, once for all guests, as wasinn_wasmtime_link. A guest_of that returns NULL traps the
 * guest. */
wasinn_status* wasinn_wasmtime_component_link(wasmtime_component_linker_t* linker, wasinn_host* host,
                                              wasinn_wasmtime_guest_of guest_of, void* user) WASINN_MUST_CHECK;

/* The same for one guest: every call belongs to `guest`, which must outlive the linker. */
wasinn_status* wasinn_wasmtime_component_link_guest(wasmtime_component_linker_t* linker,
                                                    wasinn_guest* guest) WASINN_MUST_CHECK;

/* To be called once for each store of a component: Wasmtime's own guards against large calls (128 MiB, 100,000 handles)
 * are raised where the guest's limits allow more. The guest's limits hold in any case. For a store of core modules
 * too, where its guests read or write 128 MiB by one call of WASI, which fails otherwise. Does nothing where the
 * Wasmtime library cannot serve components. */
void wasinn_wasmtime_component_set_up(wasmtime_context_t* context, const wasinn_guest* guest);

/* A component whose imports are linked: what wasmtime_instance_pre_t is for modules. Any thread, any number of stores;
 * it outlives linker and component. An error is Wasmtime's; the caller deletes it. */
typedef struct wasinn_wasmtime_component_pre wasinn_wasmtime_component_pre;
wasmtime_error_t* wasinn_wasmtime_component_pre_new(const wasmtime_component_linker_t* linker,
                                                    const wasmtime_component_t* component,
                                                    wasinn_wasmtime_component_pre** out) WASINN_MUST_CHECK;
wasmtime_error_t* wasinn_wasmtime_component_pre_instantiate(const wasinn_wasmtime_component_pre* pre,
                                                            wasmtime_context_t* context,
                                                            wasmtime_component_instance_t* out) WASINN_MUST_CHECK;
void wasinn_wasmtime_component_pre_delete(wasinn_wasmtime_component_pre* pre); /* NULL is fine */

#ifdef WASMTIME_FEATURE_ASYNC
/* As wasinn_wasmtime_component_link, for components that are instantiated and called by the two functions below: their
 * futures rest while the host does what may block, as wasinn_wasmtime_link_async says, also where a guest drops a graph or a
 * context. WASI's own functions (wasmtime_component_linker_add_wasip2) make the polling thread wait, as ever. */
wasinn_status* wasinn_wasmtime_component_link_async(wasmtime_component_linker_t* linker, wasinn_host* host,
                                                    wasinn_wasmtime_async_caller_of caller_of,
                                                    void* user) WASINN_MUST_CHECK;

/* What Wasmtime's C API has for components in some builds only. Futures are as those of wasmtime_func_call_async: to be
 * polled and deleted by wasmtime_call_future_poll and _delete; one at a time for each store; until it is deleted, all that was
 * passed stays where it is. `*error`, NULL before, is set if the call fails, and is then the caller's; NULL instead of a
 * future: it has failed already. */
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
