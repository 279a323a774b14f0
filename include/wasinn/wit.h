/* wasinn/wit.h - wasi:nn, the component form of the standard, for engines that run components.
 *
 * An engine lifts a component's arguments, calls one of these functions and lowers what comes out. All meaning is here:
 * resources, versions, names, errors, quotas. Programs that embed Wasmtime use wasinn/wasmtime.h instead.
 *
 * Resources: a *rep* is the number that stands for a tensor, graph, context or error in the tables of one guest; it
 * is what an engine keeps in its own table of handles. A rep is never 0, and one that is dead or of another kind is an
 * error here, so that a mistake of an engine harms nothing. `own` arguments are named so below: their reps are
 * consumed, also when the call fails. Closing the guest frees whatever no destructor freed.
 *
 * Outcomes: the returned status is NULL, or an error for which the engine traps the guest (a closed guest, a dead
 * rep, a quota where WIT has no way to say so). The caller frees it. What WIT calls result<T, error> comes in
 * wasinn_wit_result.
 *
 * Lifetimes: arguments are borrowed for the call. A view that comes out keeps what it shows, whatever the guest drops
 * meanwhile, until its release is called: once, from any thread, before the guest is freed.
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

/* `count` elements at `data`; NULL `release`: nothing to do. */
typedef struct wasinn_wit_view {
  const void* data;
  size_t count;
  void* owner;
  void (*release)(void* owner);
} wasinn_wit_view;

/* named-tensor: UTF-8 without a NUL at its end. */
typedef struct wasinn_wit_named_tensor {
  const char* name;
  size_t name_size;
  uint32_t tensor;
} wasinn_wit_named_tensor;

/* The numbers of enums (tensor-type, graph-encoding, execution-target, error-code) are the positions of their cases in
 * the WIT text. */
typedef struct wasinn_wit_functions {
  uint32_t struct_size;

  /* wasi:nn/tensor. The bytes are copied, once. Any length is accepted: compute refuses what does not fit. */
  wasinn_status* (*tensor_new)(wasinn_guest* guest, const uint32_t* dimensions, size_t rank, uint32_t type,
                               const uint8_t* data, size_t size, uint32_t* tensor);
  wasinn_status* (*tensor_dimensions)(wasinn_guest* guest, uint32_t tensor, wasinn_wit_view* out); /* uint32_t */
  wasinn_status* (*tensor_type)(wasinn_guest* guest, uint32_t tensor, uint32_t* out);
  wasinn_status* (*tensor_data)(wasinn_guest* guest, uint32_t tensor, wasinn_wit_view* out); /* uint8_t */
  wasinn_status* (*tensor_drop)(wasinn_guest* guest, uint32_t tensor);

  /* wasi:nn/graph. `builders` NULL with a count: they are more than the engine cares to list, which is too-large. */
  wasinn_status* (*graph_load)(wasinn_guest* guest, const wasinn_bytes* builders, size_t count, uint32_t encoding,
                               uint32_t target, wasinn_wit_result* out);
  wasinn_status* (*graph_load_by_name)(wasinn_guest* guest, const char* name, size_t size, wasinn_wit_result* out);
  wasinn_status* (*graph_init_execution_context)(wasinn_guest* guest, uint32_t graph, wasinn_wit_result* out);
  wasinn_status* (*graph_drop)(wasinn_guest* guest, uint32_t graph);

  /* wasi:nn/inference. compute (since 0.2.0-rc-2024-10-28) owns the inputs' tensors. On success `out` is no error, rep
   * 0, and `outputs` views wasinn_wit_named_tensor, whose tensors the guest owns; else `outputs` is empty. */
  wasinn_status* (*context_compute)(wasinn_guest* guest, uint32_t context, const wasinn_wit_named_tensor* inputs,
                                    size_t count, wasinn_wit_result* out, wasinn_wit_view* outputs);
  /* Before that version: set-input owns the tensor; get-output makes a new one. */
  wasinn_status* (*context_set_input)(wasinn_guest* guest, uint32_t context, const wasinn_wit_named_tensor* input,
                                      wasinn_wit_result* out);
  wasinn_status* (*context_compute_set)(wasinn_guest* guest, uint32_t context, wasinn_wit_result* out);
  wasinn_status* (*context_get_output)(wasinn_guest* guest, uint32_t context, const char* name, size_t size,
                                       wasinn_wit_result* out);
  wasinn_status* (*context_drop)(wasinn_guest* guest, uint32_t context);

  /* wasi:nn/errors. error_new is the constructor that 0.2.0-rc-2024-06-25 has. */
  wasinn_status* (*error_new)(wasinn_guest* guest, uint32_t code, const char* data, size_t size, uint32_t* error);
  wasinn_status* (*error_code)(wasinn_guest* guest, uint32_t error, uint32_t* out);
  wasinn_status* (*error_data)(wasinn_guest* guest, uint32_t error, wasinn_wit_view* out); /* char, UTF-8 */
  wasinn_status* (*error_drop)(wasinn_guest* guest, uint32_t error);

  /* wasinn:ext/inspect@0.1.0 (guest/wit/deps/wasinn-ext). Both show UTF-8. */
  wasinn_status* (*last_error)(wasinn_guest* guest, wasinn_wit_view* out);               /* char */
  wasinn_status* (*describe)(wasinn_guest* guest, uint32_t graph, wasinn_wit_view* out); /* char: a JSON object */

  /* wasinn:ext/generate@0.1.0. start owns the inputs' tensors. next: on success `has_piece` not 0 and `piece` shows
   * uint8_t, or 0 at the end of the sequence. What was generated so far comes from context_get_output. */
  wasinn_status* (*context_start)(wasinn_guest* guest, uint32_t context, const wasinn_wit_named_tensor* inputs,
                                  size_t count, wasinn_wit_result* out);
  wasinn_status* (*context_next)(wasinn_guest* guest, uint32_t context, wasinn_wit_result* out, uint32_t* has_piece,
                                 wasinn_wit_view* piece);
  wasinn_status* (*context_finish)(wasinn_guest* guest, uint32_t context, wasinn_wit_result* out);

  /* wasinn:ext/configure@0.1.0. Names of outputs are UTF-8; none: all are produced again. `names` NULL with a count:
   * they are more than the engine cares to list, which is too-large. */
  wasinn_status* (*graph_load_by_name_with_config)(wasinn_guest* guest, const char* name, size_t size,
                                                   const char* config, size_t config_size, wasinn_wit_result* out);
  wasinn_status* (*context_select_outputs)(wasinn_guest* guest, uint32_t context, const wasinn_bytes* names,
                                           size_t count, wasinn_wit_result* out);
  /* As graph_load, with the format's name, UTF-8. */
  wasinn_status* (*graph_load_as)(wasinn_guest* guest, const wasinn_bytes* builders, size_t count, const char* format,
                                  size_t format_size, uint32_t target, wasinn_wit_result* out);

  /* For engines that can set a guest aside: has `run(user)` called once by a thread of the host's (call_threads), guests in
   * turn, and returns at once. `run` calls one of the functions above for this guest and tells whoever waits, which must
   * not block. What may block: load and its kin, init-execution-context, compute, get-output, start, next and finish, and
   * dropping a graph or a context.
   *  - `run` is called from any thread, perhaps before this returns, and until it has returned the call is inside:
   *    wasinn_guest_close waits for it. Until then the guest does not run, and what the arguments point to stays.
   *  - Once the guest is stopped or closed, a `run` whose turn has not come is called by the thread that stops it; what it
   *    calls is refused.
   *  - A status (a closed guest; a system that gives no thread): `run` is not called, and the engine traps. */
  wasinn_status* (*begin)(wasinn_guest* guest, void (*run)(void* user), void* user);
} wasinn_wit_functions;

/* The table; const, valid for the life of the OS process. Any thread. A NULL guest is an error of each function. */
WASINN_API const wasinn_wit_functions* wasinn_wit(void);

/* What one call of a component may move, and how many handles it may hold. An engine that has guards of its own raises
 * them to these, so that what the guest's limits allow passes; those hold here in any case. */
typedef struct wasinn_wit_limits {
  uint32_t struct_size;
  uint64_t max_call_bytes; /* the largest list or sum of lists that one call may carry */
  uint32_t max_handles;    /* tensors, graphs, contexts and errors together */
} wasinn_wit_limits;
/* `out`: set its struct_size; fails only if that is 0. */
WASINN_API wasinn_status* wasinn_wit_guest_limits(const wasinn_guest* guest, wasinn_wit_limits* out);

#ifdef __cplusplus
}
#endif
#endif /* WASINN_WIT_H_ */
