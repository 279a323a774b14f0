// wasi_nn_async.h: asynchronous machine learning for WebAssembly components written in C or C++.
//
// It has wasi:nn@0.3.0-draft (guest/wit/nn-0.3): all of wasi_nn_component.h, whose calls wait, and beside them calls that
// go on while the guest does. So computes of several contexts overlap:
//
//   wasi_nn_tasks tasks = wasi_nn_tasks_new();
//   for (i = 0; i < n; ++i)
//     going += wasi_nn_tasks_add(tasks, wasi_nn_compute_begin(contexts[i], &inputs[i], 1, &outputs[i]));
//   while (going-- > 0) wasi_nn_tasks_wait(tasks);              then all outputs are there
//   wasi_nn_tasks_drop(tasks);
//
// The program is built like one with wasi_nn_component.h, with -DWASI_NN_ASYNC for wasi_nn_component_start.c, a world
// that also exports wasi:cli/run@0.3.0, and the adapter for reactors (docs/components.md).
//
// Conventions, in addition to those of wasi_nn_component.h
// - What a begun call reads and writes stays where it is until the call is over.
// - A context does one thing at a time: until then another call with it is an error.
//
// C11 or C++11.
#ifndef WASINN_GUEST_C_WASI_NN_ASYNC_H_
#define WASINN_GUEST_C_WASI_NN_ASYNC_H_

#define WASI_NN_VERSION "@0.3.0-draft"
#include <stdbool.h>

#include "wasi_nn_component.h"

#ifdef __cplusplus
extern "C" {
#endif

// A call that goes on; 0: it is over.
typedef uint32_t wasi_nn_task;
// Calls to wait for.
typedef uint32_t wasi_nn_tasks;

// The canonical ABI's own functions. A status has the state of a call in its lowest bits, and its task above them.
#define WASI_NN_ROOT(name) __attribute__((import_module("$root"), import_name(name)))
enum { WASI_NN_STATE_RETURNED = 2, WASI_NN_STATE_BITS = 4 };
uint32_t wasi_nn_abi_load(const wasi_nn_builder* builders, size_t count, wasi_nn_encoding encoding,
                          wasi_nn_target target, wasi_nn_result* graph) WASI_NN_IMPORT("graph", "[async-lower]load");
uint32_t wasi_nn_abi_load_by_name(const char* name, size_t size, wasi_nn_result* graph)
    WASI_NN_IMPORT("graph", "[async-lower]load-by-name");
uint32_t wasi_nn_abi_compute(wasi_nn_context context, const wasi_nn_named_tensor* inputs, size_t count,
                             wasi_nn_outputs* outputs)
    WASI_NN_IMPORT("inference", "[async-lower][method]graph-execution-context.compute");
uint32_t wasi_nn_abi_set_new(void) WASI_NN_ROOT("[waitable-set-new]");
uint32_t wasi_nn_abi_wait(uint32_t set, uint32_t* event) WASI_NN_ROOT("[waitable-set-wait]");
void wasi_nn_abi_set_drop(uint32_t set) WASI_NN_ROOT("[waitable-set-drop]");
void wasi_nn_abi_join(uint32_t waitable, uint32_t set) WASI_NN_ROOT("[waitable-join]");
uint32_t wasi_nn_abi_cancel(uint32_t subtask) WASI_NN_ROOT("[subtask-cancel]");
void wasi_nn_abi_drop(uint32_t subtask) WASI_NN_ROOT("[subtask-drop]");

// As the functions without _begin. They return at once, and the result is there when the task is over.
static inline wasi_nn_task wasi_nn_load_begin(const wasi_nn_builder* builders, size_t count, wasi_nn_encoding encoding,
                                              wasi_nn_target target, wasi_nn_result* graph) {
  return wasi_nn_abi_load(builders, count, encoding, target, graph) >> WASI_NN_STATE_BITS;
}
static inline wasi_nn_task wasi_nn_load_by_name_begin(const char* name, size_t size, wasi_nn_result* graph) {
  return wasi_nn_abi_load_by_name(name, size, graph) >> WASI_NN_STATE_BITS;
}
static inline wasi_nn_task wasi_nn_compute_begin(wasi_nn_context context, const wasi_nn_named_tensor* inputs,
                                                 size_t count, wasi_nn_outputs* outputs) {
  return wasi_nn_abi_compute(context, inputs, count, outputs) >> WASI_NN_STATE_BITS;
}

static inline wasi_nn_tasks wasi_nn_tasks_new(void) { return wasi_nn_abi_set_new(); }
// Returns how many were added: 0 if the task is over, otherwise 1.
static inline int wasi_nn_tasks_add(wasi_nn_tasks tasks, wasi_nn_task task) {
  if (task != 0) wasi_nn_abi_join(task, tasks);
  return task != 0;
}
// Waits until one of the added tasks is over, and returns it. It is in no set any more. There must be one.
static inline wasi_nn_task wasi_nn_tasks_wait(wasi_nn_tasks tasks) {
  uint32_t event[2] = {0, 0};  // the task, and its state
  do {
    wasi_nn_abi_wait(tasks, event);
  } while (event[1] < WASI_NN_STATE_RETURNED);
  wasi_nn_abi_drop(event[0]);
  return event[0];
}
// Only without tasks.
static inline void wasi_nn_tasks_drop(wasi_nn_tasks tasks) { wasi_nn_abi_set_drop(tasks); }
// Waits for one task, which is in no set.
static inline void wasi_nn_task_wait(wasi_nn_task task) {
  if (task == 0) return;
  const wasi_nn_tasks only = wasi_nn_tasks_new();
  wasi_nn_tasks_add(only, task);
  wasi_nn_tasks_wait(only);
  wasi_nn_tasks_drop(only);
}
// Ends a task soon, and waits for that. True: there is no result. False: it was over, and the result is there.
static inline bool wasi_nn_task_cancel(wasi_nn_task task) {
  const bool has_result = wasi_nn_abi_cancel(task) == WASI_NN_STATE_RETURNED;
  wasi_nn_abi_drop(task);
  return !has_result;
}

// A text or other output that comes in pieces.
typedef struct wasi_nn_generation {
  uint32_t pieces, outcome;  // a stream and a future
} wasi_nn_generation;

typedef struct wasi_nn_piece {
  wasi_nn_list name, bytes;  // of the output; free both
} wasi_nn_piece;

// Begins a generation, and takes the tensors of the inputs. Nothing is computed until a piece is read.
void wasi_nn_compute_stream(wasi_nn_context context, const wasi_nn_named_tensor* inputs, size_t count,
                            wasi_nn_generation* generation)
    WASI_NN_IMPORT("inference", "[method]graph-execution-context.compute-stream");
uint32_t wasi_nn_abi_read(uint32_t pieces, wasi_nn_piece* piece, uint32_t count)
    WASI_NN_IMPORT("inference", "[async-lower][stream-read-0][method]graph-execution-context.compute-stream");
void wasi_nn_abi_drop_pieces(uint32_t pieces)
    WASI_NN_IMPORT("inference", "[stream-drop-readable-0][method]graph-execution-context.compute-stream");
uint32_t wasi_nn_abi_outcome(uint32_t outcome, wasi_nn_result* result)
    WASI_NN_IMPORT("inference", "[async-lower][future-read-1][method]graph-execution-context.compute-stream");
void wasi_nn_abi_drop_outcome(uint32_t outcome)
    WASI_NN_IMPORT("inference", "[future-drop-readable-1][method]graph-execution-context.compute-stream");

// Waits for a read that has to wait, and returns its status.
static inline uint32_t wasi_nn_abi_read_end(uint32_t status, uint32_t end) {
  if (status != UINT32_MAX) return status;
  uint32_t event[2];
  const uint32_t only = wasi_nn_abi_set_new();
  wasi_nn_abi_join(end, only);
  wasi_nn_abi_wait(only, event);
  wasi_nn_abi_join(end, 0);
  wasi_nn_abi_set_drop(only);
  return event[1];
}

// Waits for the next piece. False: there are no more.
static inline bool wasi_nn_next_piece(const wasi_nn_generation* generation, wasi_nn_piece* piece) {
  const uint32_t status = wasi_nn_abi_read(generation->pieces, piece, 1);
  return wasi_nn_abi_read_end(status, generation->pieces) >> WASI_NN_STATE_BITS == 1;
}
// After the last piece: whether it ended in an error, which is `handle`. Ends the generation.
static inline wasi_nn_result wasi_nn_generation_end(wasi_nn_generation* generation) {
  wasi_nn_result result = {0, 0};
  (void)wasi_nn_abi_read_end(wasi_nn_abi_outcome(generation->outcome, &result), generation->outcome);
  wasi_nn_abi_drop_outcome(generation->outcome);
  wasi_nn_abi_drop_pieces(generation->pieces);
  return result;
}
// Before the last piece: ends the generation, and its context is free.
static inline void wasi_nn_generation_drop(wasi_nn_generation* generation) {
  wasi_nn_abi_drop_pieces(generation->pieces);
  wasi_nn_abi_drop_outcome(generation->outcome);
}

#ifdef __cplusplus
}
#endif

#endif  // WASINN_GUEST_C_WASI_NN_ASYNC_H_
