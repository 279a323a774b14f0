/* wasinn/engine.h - for engine adapters: makes the functions of wasi-nn callable by the guests of an engine.
 *
 * A program that embeds Wasmtime, WAMR or WasmEdge needs none of this: wasinn/wasmtime.h, wasinn/wamr.h and
 * wasinn/wasmedge.h do it. docs/engine-guide.md goes through an adapter. The conventions are those of wasinn.h.
 */
#ifndef WASINN_ENGINE_H_
#define WASINN_ENGINE_H_

#include <wasinn/wasinn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A module exports its memory under this name. Without such an export it has no memory for wasi-nn. */
#define WASINN_MEMORY_NAME "memory"

/* A guest's linear memory during one call. */
typedef struct wasinn_memory {
  uint32_t struct_size;
  uint32_t flags; /* WASINN_MEMORY_* */
  uint8_t* base;  /* NULL: the module exports no memory */
  uint64_t size;  /* bytes */
} wasinn_memory;
enum { WASINN_MEMORY_SHARED = 1u << 0 /* other threads may write it during the call */ };

/* An adapter may rely on this, now and in all later versions: a function of the table takes at most this many
 * parameters, all of them i32, and returns one i32. Functions with other types will be in a separate table. */
enum { WASINN_MAX_PARAMS = 8 };

/* One function that a guest may import. */
typedef struct wasinn_function {
  uint32_t struct_size;
  uint32_t flags;      /* WASINN_FUNCTION_* */
  const char* module;  /* "wasi_ephemeral_nn" */
  const char* name;    /* "load" */
  const char* params;  /* "iii": one letter for each parameter, 'i' for i32 */
  const char* results; /* "i" */
  /* Does the call, on any thread, and returns the errno. `args` are the parameters in the engine's own layout: elements
   * `stride` bytes apart, each with the parameter in its first four bytes. The rest of an element is not read. A NULL
   * or closed `guest` gets an error. Never traps. Keeps no pointer into `memory` or `args`. */
  uint32_t (*call)(wasinn_guest* guest, const wasinn_memory* memory, const void* args, size_t stride);
} wasinn_function;
enum {
  WASINN_FUNCTION_MAY_BLOCK = 1u << 0,  /* loads or computes, or waits for a load or a compute */
  WASINN_FUNCTION_LARGE_STACK = 1u << 1 /* runs a framework on the calling thread: needs WASINN_FRAMEWORK_STACK */
};
/* The bytes of stack that frameworks need; threads usually have 8 MiB. */
enum { WASINN_FRAMEWORK_STACK = 1 << 20 };

/* The table of all functions; valid for the life of the OS process. An engine registers each under its module and
 * name. */
WASINN_API const wasinn_function* const* wasinn_functions(size_t* count);

/* One call, for two kinds of engines: those whose threads may have less stack than WASINN_FRAMEWORK_STACK, and those
 * that end a guest by setting a flag and then waiting for its threads. */
typedef struct wasinn_call {
  uint32_t struct_size;
  /* Written by wasinn_guest_call. True: the guest was already closed, and nothing was done. */
  bool refused;
  const wasinn_function* function;
  /* The parameters of wasinn_function::call. */
  wasinn_guest* guest;
  const wasinn_memory* memory;
  const void* args;
  size_t stride;
  size_t stack_left; /* bytes that are left of this thread's stack; SIZE_MAX: enough */
  /* Returns true if the engine has ended the guest, or wants it to end. The host asks about every 10 ms, on a thread of
   * its own, while the call is inside and may block. `ended` must not block and must not call wasinn. After a true the
   * host refuses new calls of the guest and cancels running ones. It does not interrupt the guest's run: the engine is
   * ending it. wasinn_guest_close must still be called. NULL: the host does not ask. */
  bool (*ended)(void* caller);
  void* caller;
} wasinn_call;

/* Does call->function->call and returns its errno. If this thread has too little stack left for it, a thread of the
 * host does the call while this thread waits. One guest has at most 16 such calls at a time; further ones wait their
 * turn. The errno is that of runtime_error if the system gives no thread, or if struct_size is 0. */
WASINN_API uint32_t wasinn_guest_call(wasinn_call* call);
/* Begins the same call and returns at once. For engines that can set a guest aside during its call. A function that may
 * block runs on a thread of the host (setting call_threads), and guests take turns. Any other function runs here.
 *  - `done` is called exactly once, with the errno, from any thread, perhaps before this returns. It must not block and
 *    must not call wasinn. Until `done` is called, `call`, everything that it points to, and the guest's memory must
 *    stay in place, and only the host may write to that memory.
 *  - The call is inside until `done` has returned: wasinn_guest_close waits for that. When the guest is stopped or
 *    closed, a waiting call ends at once, on the stopping thread. When its run's deadline passes, or its engine
 *    has ended it, it ends at once, on a thread of the host. A running call ends soon.
 *  - The host asks `ended` only after the call has left the queue. To end a guest before that, use wasinn_guest_stop.
 *  - The deadline of a compute starts when the compute begins. Waiting in the queue does not count.
 *  - A compute that happens elsewhere, at a server, may hold no thread while it waits, and compute_wait holds none. The
 *    end still comes from a thread of the host, or from the thread that closes the guest.
 *  - stack_left is not read: threads of the host have enough stack. If the system gives no thread, the errno is that of
 *    runtime_error. */
WASINN_API void wasinn_guest_call_begin(wasinn_call* call, void (*done)(void* user, uint32_t result), void* user);
/* The bytes that are left of this thread's stack, for stack_left and for engines that guard the end of a stack. `most`
 * is the largest part of the thread's stack that the engine uses. SIZE_MAX: this code runs on another stack than the
 * thread's own. A thread's first call asks the system, which needs some stack. */
WASINN_API size_t wasinn_stack_left(size_t most);

#ifdef __cplusplus
}
#endif
#endif /* WASINN_ENGINE_H_ */
