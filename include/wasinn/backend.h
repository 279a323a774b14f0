/* wasinn/backend.h - the contract between wasinn and a backend.
 *
 * A backend is one shared library that serves one ML framework: `libwasinn_backend_NAME.so` in one of the host's
 * backend folders. It exports one function, wasinn_backend_query, and hides every other symbol. This header is the only
 * thing of wasinn that it includes; it does not link wasinn. backends/echo is the smallest example.
 *
 * Objects: a backend (B: the opened framework) has models (M: loaded, compiled, immutable), a model has contexts (C:
 * one inference in flight: inputs, outputs, the framework's request object).
 *
 * Threads: functions of B and M are called from any thread, concurrently. Functions of one C are called one at a time,
 * from any thread; only `cancel` may run beside them. Different contexts of one model compute in parallel.
 *
 * Lifetimes: wasinn frees every context before its model, and every model before it closes the backend. What a function
 * gives out as `const … **` belongs to the object and lives as long as it.
 *
 * Errors: a function returns NULL for success or an error that wasinn releases once. No C++ exception, abort or exit
 * may leave a backend, and it writes nothing to stdout or stderr: that is what host services' log is for.
 *
 * What wasinn has checked before a call arrives here: indices, dtype, shape and byte length against the signature; that
 * every input that is not optional was set since the context was made; that memory ranges are valid and belong to the
 * host. What it has not: the bytes of a model. A model that came from a guest (blob path NULL) is an attacker's: it
 * must not make the backend read a file, load a library or open a connection.
 *
 * Environment: a framework that can be told something in no other way than by a variable (ONNX Runtime's telemetry, off
 * by ORT_DISABLE_TELEMETRY=1) is told so when the backend is opened, where the variable is not set. A program whose own
 * threads read the environment meanwhile sets these variables itself, before it starts them: see docs/engine-guide.md.
 *
 * Versions: a backend is accepted when its abi_major equals WASINN_BACKEND_ABI_MAJOR and its table has every function
 * that is not optional. Fields are only ever appended, so struct sizes tell which exist: wasinn copies the table by its
 * struct_size and takes what lies beyond it as absent, and reads `const … **` structs likewise. In a struct that a
 * backend fills (wasinn_tensor), the caller has set struct_size: the backend writes the fields that both know, and
 * never struct_size. A struct_size of 0 is an error.
 */
#ifndef WASINN_BACKEND_H_
#define WASINN_BACKEND_H_

#include <wasinn/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WASINN_BACKEND_ABI_MAJOR 2
#define WASINN_BACKEND_ABI_MINOR 0

#if defined(_WIN32)
#define WASINN_BACKEND_EXPORT __declspec(dllexport)
#else
#define WASINN_BACKEND_EXPORT __attribute__((visibility("default")))
#endif

/* Opaque to wasinn; a backend defines them as it likes. */
typedef struct wasinn_backend_state wasinn_backend_state;     /* B */
typedef struct wasinn_backend_model wasinn_backend_model;     /* M */
typedef struct wasinn_backend_context wasinn_backend_context; /* C */

/* An error, allocated by the backend. */
typedef struct wasinn_error {
  uint32_t struct_size;
  wasinn_code code;    /* never WASINN_OK */
  const char* message; /* what was expected, what was found, the framework's own words; no trailing newline */
  void (*release)(struct wasinn_error* self);
} wasinn_error;

/* What the host offers a backend; valid until close. */
typedef struct wasinn_host_services {
  uint32_t struct_size;
  void* host;
  /* Any thread. The message is copied. */
  void (*log)(void* host, wasinn_log_level level, const char* message);
  /* The host's thread budget: the most threads that all of this backend's computes may use beside their callers', plus
   * one. 1: compute on the caller's thread only. */
  uint32_t threads;
  /* Memory that a backend keeps from one call to the next beside a model's own bytes, inputs and outputs: caches,
   * arenas, copies of a model. Charges `bytes` more to `account` (of load or context options); negative: gives them
   * back, which never fails. Any thread, before the memory is allocated; it calls nothing of the backend.
   * WASINN_TOO_LARGE: a limit would be exceeded, nothing was charged. What was charged is given back before
   * `context_free` or `unload` returns, or with the load or context_new that fails. NULL where the host is older.
   * backends/common/reservation.h does this. */
  wasinn_code (*reserve)(void* host, void* account, int64_t bytes);
} wasinn_host_services;

/* Bytes of a model, reference counted: a backend that needs them after load returns retains, and releases later. */
typedef struct wasinn_blob {
  uint32_t struct_size;
  const uint8_t* data;
  size_t size;
  /* Where the host read the bytes: a file, so that the host trusts it, and files beside it may be opened. NULL: bytes
   * of a guest, which must not refer to anything outside of themselves. */
  const char* path;
  void* owner;
  void (*retain)(void* owner);
  void (*release)(void* owner);
} wasinn_blob;

typedef struct wasinn_load_options {
  uint32_t struct_size;
  wasinn_encoding encoding; /* never AUTODETECT */
  wasinn_target target;
  const char* host_config;  /* JSON object, never NULL */
  const char* guest_config; /* JSON object, never NULL */
  /* Not 0: if the target cannot be had, use the CPU and log it once; 0: fail with WASINN_UNSUPPORTED_OPERATION. */
  int32_t cpu_fallback;
  /* Bytes that loading may allocate beyond a small multiple of the model's own size; 0: no limit. A framework that
   * cannot limit itself ignores it. */
  uint64_t max_bytes;
  /* A deadline for the load: the backend may register what interrupts its framework, which is then called from another
   * thread, possibly again and again, until on_cancel(token, NULL, NULL), after which it is never called. That must
   * come before load returns, also with an error. */
  void* token;
  void (*on_cancel)(void* token, void (*cancel)(void* arg), void* arg);
  /* For host services' reserve: who pays for what the model keeps, valid until unload returns. NULL: the host, without
   * a limit, for its own models are all guests'. */
  void* account;
} wasinn_load_options;

/* n_outputs of a model whose framework tells its outputs only by a run. */
#define WASINN_COUNT_UNKNOWN UINT32_MAX

/* A model's signature. */
typedef struct wasinn_info {
  uint32_t struct_size;
  uint32_t n_inputs;
  uint32_t n_outputs; /* WASINN_COUNT_UNKNOWN: outputs is NULL, and wasinn_backend::outputs tells after each compute */
  const wasinn_io* const* inputs;
  const wasinn_io* const* outputs;
  /* How many computes of this model may run at once; 0: it has no limit of its own. More would wait in the framework,
   * and take places from other models there: those that run count among the host's (max_computes), which are as many
   * as its processors and its memory for intermediate values can bear. UINT32_MAX: any number, and not counted, for
   * the backend sees to it, as one does that evaluates many at a time. */
  uint32_t max_parallel;
} wasinn_info;

typedef struct wasinn_context_options {
  uint32_t struct_size;
  /* Bytes that one compute may allocate, outputs and intermediate values together; 0: no limit. Over it:
   * WASINN_TOO_LARGE. A framework that cannot limit itself ignores it. */
  uint64_t max_bytes;
  const char* guest_config; /* JSON object of WASINN_KEY_CONTEXT keys, never NULL */
  /* For host services' reserve: who pays for what the context keeps, valid until context_free returns: its guest, from
   * the bytes of tensors that it may hold. NULL: the host. */
  void* account;
  /* A deadline for making the context, as wasinn_load_options has one for a load. Both may be NULL. */
  void* token;
  void (*on_cancel)(void* token, void (*cancel)(void* arg), void* arg);
} wasinn_context_options;

typedef struct wasinn_tensor {
  uint32_t struct_size;
  uint32_t dtype; /* wasinn_dtype */
  uint32_t rank;  /* 0: a scalar */
  const int64_t* dims;
  void* data; /* may be NULL when bytes is 0 */
  size_t bytes;
  void* owner; /* for release */
  /* Frees data; called once, from any thread. NULL: borrowed. */
  void (*release)(void* owner);
} wasinn_tensor;

/* What a compute says beside its error. wasinn sets struct_size and zeroes the rest. */
enum {
  /* Every output lies where the view of it lay that was shown after an earlier compute, with the same dims: wasinn need
   * not look again. Only what a model's signature fixes can be so, and nothing of it was taken since. */
  WASINN_VIEWS_HOLD = 1u << 0
};
typedef struct wasinn_compute_result {
  uint32_t struct_size;
  uint32_t flags; /* WASINN_VIEWS_HOLD */
} wasinn_compute_result;

/* What an opened backend runs on. */
typedef struct wasinn_backend_info {
  uint32_t struct_size;
  const char* framework; /* "ONNX Runtime" */
  const char* version;   /* "1.31.1" */
  const char* library;   /* the file that was loaded; "" if none */
  const char* devices;   /* comma-separated: "cpu, gpu (CUDA)" */
} wasinn_backend_info;

typedef struct wasinn_backend {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor;
  const char* name;                 /* "onnx", as in the library's name and in [backends.onnx] */
  const char* version;              /* of the backend, not of the framework */
  const wasinn_encoding* encodings; /* what it loads */
  size_t n_encodings;
  const wasinn_key* keys;
  size_t n_keys;
  const char* install; /* how to get its framework, for messages: "scripts/deps.sh onnxruntime"; "" if it needs none */

  /* Loads the framework. `config`: JSON object of WASINN_KEY_BACKEND keys. Called once per host; may be called for
   * several hosts in one OS process. A framework that is not there is WASINN_UNSUPPORTED_OPERATION, naming the files
   * that were looked for and how to install it. */
  wasinn_error* (*open)(const wasinn_host_services* services, const char* config, wasinn_backend_state** out);
  void (*close)(wasinn_backend_state* backend);
  wasinn_error* (*backend_info)(wasinn_backend_state* backend, const wasinn_backend_info** out);

  /* Parses and compiles. Bytes that are not of the encoding: WASINN_INVALID_ENCODING. */
  wasinn_error* (*load)(wasinn_backend_state* backend, const wasinn_blob* const* blobs, size_t n_blobs,
                        const wasinn_load_options* options, wasinn_backend_model** out);
  void (*unload)(wasinn_backend_model* model);
  wasinn_error* (*info)(wasinn_backend_model* model, const wasinn_info** out);

  wasinn_error* (*context_new)(wasinn_backend_model* model, const wasinn_context_options* options,
                               wasinn_backend_context** out);
  void (*context_free)(wasinn_backend_context* context);

  /* The only way in: from here on input `index` is the memory of `tensor`, uncopied. It is the host's, a guest's (for
   * one compute only), or another context's of this backend (take_output); aligned to bind_align, with
   * WASINN_TENSOR_TAIL readable bytes behind it, and valid until the input is bound anew or unbound, or the context is
   * freed. Its bytes may change from one compute to the next without another call, and are looked at in compute and
   * step alone; when these return, no output lies in them. Where a framework cannot promise that (state that takes an
   * input's memory over, outputs that are inputs), the backend copies in each compute, into memory that it reserves.
   * An input that is WASINN_IO_OPAQUE is bound anew whenever its bytes change, and may be looked at any time until
   * then. Must not allocate when place, dtype and dims are those of the last call. After an error the input is unset. */
  wasinn_error* (*bind_input)(wasinn_backend_context* context, uint32_t index, const wasinn_tensor* tensor);
  /* As if the input had never been set: the memory is not looked at any more, whoever still has its address. The
   * outputs of the last compute stay. */
  void (*unbind_input)(wasinn_backend_context* context, uint32_t index);
  /* Runs the model on the inputs and produces every output. After an error the inputs stay as they are, and there are
   * no outputs, except after WASINN_CONTEXT_FULL: those show what was generated so far. */
  wasinn_error* (*compute)(wasinn_backend_context* context, wasinn_compute_result* result);
  /* Out: a view of output `index` of the last successful compute, borrowed until the next compute or context_free. An
   * output that the framework cannot show as a tensor of numbers is WASINN_UNSUPPORTED_OPERATION that names its type.
   */
  wasinn_error* (*output)(wasinn_backend_context* context, uint32_t index, wasinn_tensor* view);

  /* Optional, NULL where absent. Makes a compute that is running on this context return soon with an error. Called from
   * another thread, every few milliseconds until compute has returned, never beside itself, and only while wasinn is
   * inside of its call: so it may arrive in the moment before compute begins its work or after it ended it, but never
   * when compute has been left. The call's end waits for it: it must not block. */
  void (*cancel)(wasinn_backend_context* context);
  /* Optional. Frees what the outputs of the last compute hold, but for buffers of the size that the signature fixes,
   * which the next compute uses again: they were more than a limit allows. What it must keep of them, for a state that
   * goes on, it charges until the next compute. There is no output then until the next compute. An output that is
   * WASINN_IO_UNSERVABLE is never kept after a compute, since nothing counts it. */
  void (*discard_outputs)(wasinn_backend_context* context);

  /* Optional. Out: output `index` of the last successful compute, with its memory, for good: it outlives the next
   * compute and the context, and is released before the model is unloaded. At most once for each compute and output;
   * `output` does not show it any more. dims are borrowed for the moment. */
  wasinn_error* (*take_output)(wasinn_backend_context* context, uint32_t index, wasinn_tensor* out);
  /* Optional. From now on compute need produce only these outputs (ascending, none twice), and `output` is asked for no
   * other; n 0: all again. Without it all are produced. */
  wasinn_error* (*want_outputs)(wasinn_backend_context* context, const uint32_t* indices, size_t n);
  /* Where a model's n_outputs is WASINN_COUNT_UNKNOWN: the outputs of the last successful compute, until the next. */
  wasinn_error* (*outputs)(wasinn_backend_context* context, const wasinn_io* const** out, uint32_t* n);
  /* Optional. What the backend knows of a model beyond its signature, as the text of one JSON object, which lives as
   * long as the model: {"device": "CPU", "precision": "f32"}. */
  const char* (*describe)(wasinn_backend_model* model);

  /* Optional, all three or none: models that generate their outputs piece by piece. `cancel` interrupts a step as it
   * does a compute. step: produces the next piece. The first one begins a generation from the inputs; one is under way
   * until finish, the next compute, or until an input is asked for, which ends it. WASINN_END_OF_SEQUENCE: there was no
   * further piece, and there is none until finish. WASINN_CONTEXT_FULL likewise. During a generation, and after it
   * until the next compute or step, `output` shows all that it has produced so far. */
  wasinn_error* (*step)(wasinn_backend_context* context);
  /* Out: a view of output `index`'s newest piece, after a step that returned NULL; borrowed until the next call. Pieces
   * of text are whole characters: a piece may be empty. */
  wasinn_error* (*piece)(wasinn_backend_context* context, uint32_t index, wasinn_tensor* view);
  /* Ends the generation under way, if there is one; never fails for want of one. */
  wasinn_error* (*finish)(wasinn_backend_context* context);

  /* What bind_input asks of memory's address, a power of two; 0: 64. Elements are always aligned to their size. */
  uint32_t bind_align;
} wasinn_backend;

/* The one exported function. Returns a table that stays valid for the life of the OS process, or NULL if the backend
 * cannot serve a host of this ABI version. Does not load the framework. */
WASINN_BACKEND_EXPORT const wasinn_backend* wasinn_backend_query(uint16_t host_abi_major, uint16_t host_abi_minor);

#ifdef __cplusplus
}
#endif
#endif /* WASINN_BACKEND_H_ */
