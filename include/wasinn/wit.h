/* wasinn/wit.h - wasi:nn, the component form of the standard, for engines that run components.
 *
 * An engine lifts a component's arguments, calls one of these functions, and lowers the results. The functions do
 * the rest: resources, versions, names, errors, quotas. Programs that embed Wasmtime use wasinn/wasmtime.h instead.
 *
 * Resources: a *rep* is a number for a tensor, graph, context or error of one guest. An engine keeps reps in its own
 * table of handles. A rep is never 0. A dead rep, or a rep of another kind, is an error here, so an engine's mistake
 * does no harm. Some functions own an argument; their comments say so. They consume its rep, even if the call fails.
 * Closing the guest frees every resource that the guest has not dropped.
 *
 * Outcomes: a returned status is NULL or an error. For an error the engine traps the guest: the guest is closed, a rep
 * is dead, or a quota is used up and WIT has no error for it. The caller frees the status. A result<T, error> of WIT is
 * a wasinn_wit_result.
 *
 * Lifetimes: arguments are borrowed for the call. A view stays valid until its release is called, even if the guest
 * drops the resource before. Release it once, from any thread, before the guest is freed.
 */
#ifndef WASINN_WIT_H_
#define WASINN_WIT_H_

#include <wasinn/wasinn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* result<T, error>, where T is a resource or nothing. */
typedef struct wasinn_wit_result {
  uint32_t is_error; /* not 0: rep is an error */
  uint32_t rep;      /* 0: nothing (result<_, error>) */
} wasinn_wit_result;

/* `count` elements at `data`. Call release(owner) when done; a NULL release needs no call. */
typedef struct wasinn_wit_view {
  const void* data;
  size_t count;
  void* owner;
  void (*release)(void* owner);
} wasinn_wit_view;

/* A named piece of an output. The name is UTF-8 of `name_size` bytes, without a NUL. */
typedef struct wasinn_wit_piece {
  const char* name;
  size_t name_size;
  const uint8_t* data;
  size_t size;
} wasinn_wit_piece;

/* A call that goes on while its guest does. */
typedef struct wasinn_wit_task wasinn_wit_task;

/* Reports the end of a task's work: called once, from any thread, perhaps before the function that began the work
 * returns. It must not block and must not call wasinn. */
typedef struct wasinn_wit_done {
  void (*notify)(void* user);
  void* user;
} wasinn_wit_done;

/* A named-tensor. The name is UTF-8 of `name_size` bytes, without a NUL. */
typedef struct wasinn_wit_named_tensor {
  const char* name;
  size_t name_size;
  uint32_t tensor;
} wasinn_wit_named_tensor;

/* The functions. An enum's number (tensor-type, graph-encoding, execution-target, error-code) is the position of its
 * case in the WIT text, from 0. */
typedef struct wasinn_wit_functions {
  uint32_t struct_size;

  /* wasi:nn/tensor. The bytes are copied, once. Any length is accepted: compute checks it against the dimensions. */
  wasinn_status* (*tensor_new)(wasinn_guest* guest, const uint32_t* dimensions, size_t rank, uint32_t type,
                               const uint8_t* data, size_t size, uint32_t* tensor);
  wasinn_status* (*tensor_dimensions)(wasinn_guest* guest, uint32_t tensor, wasinn_wit_view* out); /* uint32_t */
  wasinn_status* (*tensor_type)(wasinn_guest* guest, uint32_t tensor, uint32_t* out);
  wasinn_status* (*tensor_data)(wasinn_guest* guest, uint32_t tensor, wasinn_wit_view* out); /* uint8_t */
  wasinn_status* (*tensor_drop)(wasinn_guest* guest, uint32_t tensor);

  /* wasi:nn/graph. NULL `builders` with a count: the engine refuses to list so many, and the result is too-large. */
  wasinn_status* (*graph_load)(wasinn_guest* guest, const wasinn_bytes* builders, size_t count, uint32_t encoding,
                               uint32_t target, wasinn_wit_result* out);
  wasinn_status* (*graph_load_by_name)(wasinn_guest* guest, const char* name, size_t size, wasinn_wit_result* out);
  wasinn_status* (*graph_init_execution_context)(wasinn_guest* guest, uint32_t graph, wasinn_wit_result* out);
  wasinn_status* (*graph_drop)(wasinn_guest* guest, uint32_t graph);

  /* wasi:nn/inference. compute (since 0.2.0-rc-2024-10-28) owns the inputs' tensors. On success `out` has is_error 0
   * and rep 0, and `outputs` is a view of wasinn_wit_named_tensor; the guest owns their tensors. After an error
   * `outputs` is empty. */
  wasinn_status* (*context_compute)(wasinn_guest* guest, uint32_t context, const wasinn_wit_named_tensor* inputs,
                                    size_t count, wasinn_wit_result* out, wasinn_wit_view* outputs);
  /* compute of earlier versions. set-input owns the tensor; get-output makes a new one. */
  wasinn_status* (*context_set_input)(wasinn_guest* guest, uint32_t context, const wasinn_wit_named_tensor* input,
                                      wasinn_wit_result* out);
  wasinn_status* (*context_compute_set)(wasinn_guest* guest, uint32_t context, wasinn_wit_result* out);
  wasinn_status* (*context_get_output)(wasinn_guest* guest, uint32_t context, const char* name, size_t size,
                                       wasinn_wit_result* out);
  wasinn_status* (*context_drop)(wasinn_guest* guest, uint32_t context);

  /* wasi:nn/errors. error_new is the constructor of 0.2.0-rc-2024-06-25. */
  wasinn_status* (*error_new)(wasinn_guest* guest, uint32_t code, const char* data, size_t size, uint32_t* error);
  wasinn_status* (*error_code)(wasinn_guest* guest, uint32_t error, uint32_t* out);
  wasinn_status* (*error_data)(wasinn_guest* guest, uint32_t error, wasinn_wit_view* out); /* char, UTF-8 */
  wasinn_status* (*error_drop)(wasinn_guest* guest, uint32_t error);

  /* wasinn:ext/inspect@0.1.0 (guest/wit/deps/wasinn-ext). Both views are UTF-8. */
  wasinn_status* (*last_error)(wasinn_guest* guest, wasinn_wit_view* out);               /* char */
  wasinn_status* (*describe)(wasinn_guest* guest, uint32_t graph, wasinn_wit_view* out); /* char: a JSON object */

  /* wasinn:ext/generate@0.1.0. start owns the inputs' tensors. After a successful next, `piece` is a view of uint8_t if
   * `has_piece` is not 0; `has_piece` 0 is the end of the sequence. context_get_output returns all that was generated
   * so far. */
  wasinn_status* (*context_start)(wasinn_guest* guest, uint32_t context, const wasinn_wit_named_tensor* inputs,
                                  size_t count, wasinn_wit_result* out);
  wasinn_status* (*context_next)(wasinn_guest* guest, uint32_t context, wasinn_wit_result* out, uint32_t* has_piece,
                                 wasinn_wit_view* piece);
  wasinn_status* (*context_finish)(wasinn_guest* guest, uint32_t context, wasinn_wit_result* out);

  /* wasinn:ext/configure@0.1.0. Names of outputs are UTF-8. count 0: all outputs are produced again. NULL `names` with
   * a count: the engine refuses to list so many, and the result is too-large. */
  wasinn_status* (*graph_load_by_name_with_config)(wasinn_guest* guest, const char* name, size_t size,
                                                   const char* config, size_t config_size, wasinn_wit_result* out);
  wasinn_status* (*context_select_outputs)(wasinn_guest* guest, uint32_t context, const wasinn_bytes* names,
                                           size_t count, wasinn_wit_result* out);
  /* As graph_load, with the format's name in UTF-8. */
  wasinn_status* (*graph_load_as)(wasinn_guest* guest, const wasinn_bytes* builders, size_t count, const char* format,
                                  size_t format_size, uint32_t target, wasinn_wit_result* out);

  /* For engines that can set a guest aside during a call. A thread of the host (setting call_threads) calls `run(user)`
   * once; guests take turns. begin returns at once. `run` calls one of the functions above for this guest, and then
   * notifies the engine of its end, without blocking. These functions may block: all that load,
   * init-execution-context, compute, get-output, start, next, finish, and the drop of a graph or a context.
   *  - `run` is called from any thread, perhaps before begin returns. The call is inside until `run` has returned:
   *    wasinn_guest_close waits for that. Until then the guest must not run, and all arguments must stay in place.
   *  - When the guest is stopped or closed, the stopping thread calls a `run` that still waits for its turn. The
   *    function that `run` calls then refuses.
   *  - If begin returns a status, `run` is not called, and the engine traps. Reasons: the guest is closed, or the
   *    system gives no thread. */
  wasinn_status* (*begin)(wasinn_guest* guest, void (*run)(void* user), void* user);

  /* For hosts that call these functions themselves. Out: the wasinn_code of an error (several share a case of
   * error-code); 0: the guest made it, by error_new. */
  wasinn_status* (*error_status)(wasinn_guest* guest, uint32_t error, uint32_t* out);

  /* wasi:nn@0.3.0-draft (guest/wit/nn-0.3), for engines whose guests go on during a call. A function that
   * makes a task reads its arguments before it returns, and owns the tensors of inputs. Errors of its work come with
   * task_take. If a function returns a status, nothing has begun, and `done` is never called. Otherwise `done` comes
   * even if the task was freed before, at the latest while the guest is closed.
   * One thread at a time uses a task, and frees it once: at any time, even after the guest was freed. */
  wasinn_status* (*task_load)(wasinn_guest* guest, const wasinn_bytes* builders, size_t count, uint32_t encoding,
                              uint32_t target, wasinn_wit_done done, wasinn_wit_task** task);
  wasinn_status* (*task_load_by_name)(wasinn_guest* guest, const char* name, size_t size, wasinn_wit_done done,
                                      wasinn_wit_task** task);
  /* The context is in use until `done` is called; other calls get an error. `may_stay` not 0: a compute that takes
   * some microseconds by all that is known, and waits for no other, may be done before this returns. Then this thread
   * needs WASINN_FRAMEWORK_STACK. */
  wasinn_status* (*task_compute)(wasinn_guest* guest, uint32_t context, const wasinn_wit_named_tensor* inputs,
                                 size_t count, uint32_t may_stay, wasinn_wit_done done, wasinn_wit_task** task);
  /* A generation: it has no work, and each task_step begins the making of a piece. The context is in use until the end
   * of the generation: a step that made none, an error, or task_free. */
  wasinn_status* (*task_generate)(wasinn_guest* guest, uint32_t context, const wasinn_wit_named_tensor* inputs,
                                  size_t count, wasinn_wit_task** task);
  wasinn_status* (*task_step)(wasinn_wit_task* task, wasinn_wit_done done);
  /* Once after each `done`. `out` has the graph that was loaded. `values` is a view of wasinn_wit_named_tensor after a
   * compute, whose tensors the guest owns, and of wasinn_wit_piece after a step: none at the end. */
  wasinn_status* (*task_take)(wasinn_wit_task* task, wasinn_wit_result* out, wasinn_wit_view* values);
  /* Work that goes on is cancelled, and what it makes is dropped; a load goes on to its end. Does not wait for it. */
  void (*task_free)(wasinn_wit_task* task);
} wasinn_wit_functions;

/* The table of functions; valid for the life of the OS process. Any thread. Each function refuses a NULL guest. */
WASINN_API const wasinn_wit_functions* wasinn_wit(void);

/* How much one call of a component may carry, and how many handles the component may hold. An engine with guards of its
 * own should raise them to these numbers, so that they never refuse what the guest's limits allow. The guest's limits
 * hold in any case. */
typedef struct wasinn_wit_limits {
  uint32_t struct_size;
  uint64_t max_call_bytes; /* the largest list or sum of lists that one call may carry */
  uint32_t max_handles;    /* tensors, graphs, contexts and errors together */
} wasinn_wit_limits;
/* Set out->struct_size before the call; it fails only if that is 0. */
WASINN_API wasinn_status* wasinn_wit_guest_limits(const wasinn_guest* guest, wasinn_wit_limits* out);

#ifdef __cplusplus
}
#endif
#endif /* WASINN_WIT_H_ */
