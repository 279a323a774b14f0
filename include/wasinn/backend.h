/* wasinn/backend.h - the contract between wasinn and a backend.
 *
 * A backend is one shared library that serves one ML framework: `libwasinn_backend_NAME.so` in one of the host's
 * backend folders. It exports one function, wasinn_backend_query, and hides every other symbol. This header is the only
 * thing of wasinn that it includes; it does not link wasinn. docs/backend-guide.md begins one.
 *
 * Objects: a backend (B: the opened framework) has graphs (G: models, loaded, compiled, immutable), a graph has slots (S:
 * the framework's request object, with the inputs and outputs of one inference in flight).
 *
 * Threads: functions of B and G are called from any thread, concurrently. Functions of one S are called one at a time,
 * from any thread; only `cancel` may run beside them. Different slots of one graph compute in parallel.
 *
 * Lifetimes: wasinn frees every slot before its graph, and every graph before it closes the backend. What a function
 * gives out as `const … **` belongs to the object and lives as long as it.
 *
 * Errors: a function returns NULL for success or an error that wasinn releases once. No C++ exception, abort or exit
 * may leave a backend, and it writes nothing to stdout or stderr: that is what host services' log is for.
 *
 * What wasinn has checked before a call arrives here: indices, dtype, shape and byte length against the signature; that
 * every input that is not optional was set since the slot was made; that memory ranges are valid and belong to the
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
 * never struct_size. A struct_size of 0 is an error. Enums are passed as integers of a fixed width.
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
typedef struct wasinn_backend_state wasinn_backend_state; /* B */
typedef struct wasinn_backend_graph wasinn_backend_graph; /* G */
typedef struct wasinn_backend_slot wasinn_backend_slot;   /* S */

/* An error, allocated by the backend. */
typedef struct wasinn_error {
  uint32_t struct_size;
  uint32_t code;       /* wasinn_code, never WASINN_OK; one that the host does not know is a runtime error */
  const char* message; /* what was expected, what was found, the framework's own words; no trailing newline */
  void (*release)(struct wasinn_error* self);
} wasinn_error;

/* What the host offers a backend; valid until close. */
typedef struct wasinn_host_services {
  uint32_t struct_size;
  void* host;
  /* Any thread. The message is copied. */
  void (*log)(void* host, uint32_t level, const char* message); /* wasinn_log_level */
  /* The host's thread budget: the most threads that all of this backend's computes may use beside their callers', plus
   * one. 1: compute on the caller's thread only. */
  uint32_t threads;
  /* Memory that a backend keeps from one call to the next beside a model's own bytes, inputs and outputs: caches,
   * arenas, copies of a model. Charges `bytes` more to `account` (of load or slot options); negative: gives them
   * back, which never fails. Any thread, before the memory is allocated; it calls nothing of the backend.
   * WASINN_TOO_LARGE: a limit would be exceeded, nothing was charged. What was charged is given back before
   * `slot_free` or `unload` returns, or with the load or slot_new that fails. NULL where the host is older.
   * backends/common/reservation.h does this. */
  uint32_t (*reserve)(void* host, void* account, int64_t bytes); /* wasinn_code */
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

/* Bytes that stand at the same place of every model of a format. */
typedef struct wasinn_magic {
  uint32_t offset;
  uint32_t size;
  const char* bytes;
} wasinn_magic;

enum {
  /* The backend maps a model's file itself: the host maps it too, instead of reading a copy that nobody needs. */
  WASINN_FORMAT_MAPPED = 1u << 0
};

/* A format that a backend loads. Of those that wasi-nn has numbers for (types.h) hosts know all but the name already,
 * and what stands here is known beside it; of any other this is all that is known. Without endings its models need
 * their format said, without magics and `recognise` it is not looked for in bytes. */
typedef struct wasinn_format {
  uint32_t struct_size;
  uint32_t flags;             /* WASINN_FORMAT_* */
  const char* name;           /* "onnx": lower-case letters, digits, '-', '_', '.' */
  const char* const* endings; /* of files' names: ".onnx"; in a model's folder the file is "model" and an ending */
  size_t n_endings;
  const char* const* files; /* further names in a model's folder: "saved_model.pb" */
  size_t n_files;
  /* The ending of a second file that belongs to a model, beside the first and named like it: ".bin"; it is the model's
   * second blob where it exists. NULL: there is none. */
  const char* companion;
  const wasinn_magic* magics; /* any one of them tells the format */
  size_t n_magics;
  /* Whether bytes begin a model of this format, where no magic tells it: `start` has the first `n` of a blob's `size`
   * bytes. They may be an attacker's, cut anywhere and not aligned. Any thread; quick, without memory and without a
   * framework. May be NULL. */
  int32_t (*recognise)(const uint8_t* start, size_t n, uint64_t size);
} wasinn_format;

typedef struct wasinn_load_options {
  uint32_t struct_size;
  uint32_t target;          /* wasinn_target */
  const char* format;       /* its name, as a table has it; never NULL */
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

enum {
  /* A slot has memory worth saving, and what a compute gives depends on nothing of an earlier one: so contexts may share
   * slots, of which there are as many as run at once. Then there is `reset`, and no `step`. */
  WASINN_GRAPH_SHARES_SLOTS = 1u << 0,
  /* What a compute gives may depend on earlier ones of its slot: no guest's computes come after another's there, not even in
   * batches. */
  WASINN_GRAPH_STATEFUL = 1u << 1
};

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
  uint32_t flags; /* WASINN_GRAPH_* */
} wasinn_info;

typedef struct wasinn_slot_options {
  uint32_t struct_size;
  /* Bytes that one compute may allocate, outputs and intermediate values together; 0: no limit. Over it:
   * WASINN_TOO_LARGE. A framework that cannot limit itself ignores it. */
  uint64_t max_bytes;
  const char* guest_config; /* JSON object of WASINN_KEY_CONTEXT keys, never NULL */
  /* For host services' reserve: who pays for what the slot keeps, valid until slot_free returns: its guest, from
   * the bytes of tensors that it may hold. NULL: the host. */
  void* account;
  /* A deadline for making the slot, as wasinn_load_options has one for a load. Both may be NULL. */
  void* token;
  void (*on_cancel)(void* token, void (*cancel)(void* arg), void* arg);
} wasinn_slot_options;

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

/* What a compute is told. wasinn sets struct_size and zeroes what it does not know. */
typedef struct wasinn_compute_options {
  uint32_t struct_size;
  /* How many outputs are wanted, and which: ascending, none twice. 0: all. The others need not be produced;
   * `output` shows what is held of them nevertheless, so that it is counted, and no bytes where that is nothing. The
   * list is valid until compute returns. */
  uint32_t n_wanted;
  const uint32_t* wanted;
  /* After so many milliseconds `cancel` comes; 0: there is no deadline. */
  uint64_t deadline_ms;
  /* The slot's max_bytes for this compute; 0: what the slot was told. A batch may take what its inferences may together. */
  uint64_t max_bytes;
} wasinn_compute_options;

/* What it says beside its error. wasinn sets struct_size and zeroes the rest. */
enum {
  /* Of the outputs that are bound, some lie elsewhere, as the signature was not true: `output` shows each of them. */
  WASINN_OUTPUTS_ELSEWHERE = 1u << 0
};
typedef struct wasinn_compute_result {
  uint32_t struct_size;
  uint32_t flags; /* WASINN_OUTPUTS_ELSEWHERE */
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
  const char* name;                    /* "onnx", as in the library's name and in [backends.onnx] */
  const char* version;                 /* of the backend, not of the framework */
  const wasinn_format* const* formats; /* what it loads */
  size_t n_formats;
  const wasinn_key* keys;
  size_t n_keys;
  const char* install; /* how to get its framework, for messages: "scripts/deps.sh onnxruntime"; "" if it needs none */

  /* Loads the framework. `config`: JSON object of WASINN_KEY_BACKEND keys. Called once per host; may be called for
   * several hosts in one OS process. A framework that is not there is WASINN_UNSUPPORTED_OPERATION, naming the files
   * that were looked for and how to install it. */
  wasinn_error* (*open)(const wasinn_host_services* services, const char* config, wasinn_backend_state** out);
  void (*close)(wasinn_backend_state* backend);
  wasinn_error* (*backend_info)(wasinn_backend_state* backend, const wasinn_backend_info** out);

  /* Parses and compiles. Bytes that are not of the format: WASINN_INVALID_ENCODING. */
  wasinn_error* (*load)(wasinn_backend_state* backend, const wasinn_blob* const* blobs, size_t n_blobs,
                        const wasinn_load_options* options, wasinn_backend_graph** out);
  void (*unload)(wasinn_backend_graph* graph);
  wasinn_error* (*info)(wasinn_backend_graph* graph, const wasinn_info** out);

  wasinn_error* (*slot_new)(wasinn_backend_graph* graph, const wasinn_slot_options* options, wasinn_backend_slot** out);
  void (*slot_free)(wasinn_backend_slot* slot);

  /* The only way in: from here on input `index` is the memory of `tensor`, uncopied. It is the host's, a guest's (for
   * one compute only), or another slot's of this backend (take_output); aligned to bind_align, with
   * WASINN_TENSOR_TAIL readable bytes behind it, but for memory that this backend itself gave without them; and valid
   * until the input is bound anew or unbound, or the slot is freed. Its bytes may change from one compute to the next
   * without another call, and are looked at in compute and step alone; when these return, no output lies in them. Where
   * a framework cannot promise that (state that takes an input's memory over, outputs that are inputs), the backend
   * copies in each compute, into memory that it reserves.
   * A slot of a graph that shares slots may rest while the memory is gone: then the input is bound anew or unbound
   * before the next compute, or `reset` comes.
   * An input that is WASINN_IO_OPAQUE is bound anew whenever its bytes change, and may be looked at any time until
   * then. Must not allocate when place, dtype and dims are those of the last call. After an error the input is unset. */
  wasinn_error* (*bind_input)(wasinn_backend_slot* slot, uint32_t index, const wasinn_tensor* tensor);
  /* As if the input had never been set: the memory is not looked at any more, whoever still has its address. The
   * outputs of the last compute stay. */
  void (*unbind_input)(wasinn_backend_slot* slot, uint32_t index);
  /* Runs the model on the inputs and produces the outputs that are wanted. After an error the inputs stay as they are,
   * and there are no outputs, except after WASINN_CONTEXT_FULL: those show what was generated so far. An output that is
   * WASINN_IO_BINDABLE and not bound, though it is wanted: WASINN_INVALID_ARGUMENT. */
  wasinn_error* (*compute)(wasinn_backend_slot* slot, const wasinn_compute_options* options,
                           wasinn_compute_result* result);
  /* Out: a view of output `index` of the last successful compute that is not bound, borrowed until the next compute or
   * slot_free. An output that the framework cannot show as a tensor of numbers is WASINN_UNSUPPORTED_OPERATION that
   * names its type. */
  wasinn_error* (*output)(wasinn_backend_slot* slot, uint32_t index, wasinn_tensor* view);

  /* Optional, NULL where absent. Makes a compute that is running on this slot return soon with an error. Called from
   * another thread, every few milliseconds until compute has returned, never beside itself, and only while wasinn is
   * inside of its call: so it may arrive in the moment before compute begins its work or after it ended it, but never
   * when compute has been left. The call's end waits for it: it must not block. */
  void (*cancel)(wasinn_backend_slot* slot);
  /* Optional. Frees what the outputs of the last compute hold, but for buffers of the size that the signature fixes,
   * which the next compute uses again: they were more than a limit allows. What it keeps of them nevertheless, for a
   * state that goes on or since to begin anew would take longer, it charges until the next compute. There is no output
   * then until the next compute. An output that is WASINN_IO_UNSERVABLE is never kept after a compute, since nothing
   * counts it. */
  void (*discard_outputs)(wasinn_backend_slot* slot);

  /* Optional. Out: output `index` of the last successful compute, with its memory, for good: it outlives the next
   * compute and the slot, and is released before the graph is unloaded. At most once for each compute and output;
   * `output` does not show it any more. dims are borrowed for the moment. Never asked for what is bound. */
  wasinn_error* (*take_output)(wasinn_backend_slot* slot, uint32_t index, wasinn_tensor* out);
  /* Where a model's n_outputs is WASINN_COUNT_UNKNOWN: the outputs of the last successful compute, until the next. */
  wasinn_error* (*outputs)(wasinn_backend_slot* slot, const wasinn_io* const** out, uint32_t* n);
  /* Optional. What the backend knows of a model beyond its signature, as the text of one JSON object, which lives as
   * long as the graph: {"device": "CPU", "precision": "f32"}. */
  const char* (*describe)(wasinn_backend_graph* graph);

  /* Optional, all three or none: models that generate their outputs piece by piece. `cancel` interrupts a step as it
   * does a compute. step: produces the next piece. The first one begins a generation from the inputs; one is under way
   * until finish, the next compute, or until an input is asked for, which ends it. WASINN_END_OF_SEQUENCE: there was no
   * further piece, and there is none until finish. WASINN_CONTEXT_FULL likewise. During a generation, and after it
   * until the next compute or step, `output` shows all that it has produced so far. */
  wasinn_error* (*step)(wasinn_backend_slot* slot);
  /* Out: a view of output `index`'s newest piece, after a step that returned NULL; borrowed until the next call. Pieces
   * of text are whole characters: a piece may be empty. */
  wasinn_error* (*piece)(wasinn_backend_slot* slot, uint32_t index, wasinn_tensor* view);
  /* Ends the generation under way, if there is one; never fails for want of one. */
  wasinn_error* (*finish)(wasinn_backend_slot* slot);

  /* What bind_input asks of memory's address, a power of two; 0: 64. Elements are always aligned to their size. */
  uint32_t bind_align;

  /* There where an output is WASINN_IO_BINDABLE: from here on each compute writes output `index` to the memory of
   * `tensor`, which has the dtype, dims and bytes of the signature. It is the host's, aligned and with a tail as an
   * input's, and valid until the output is bound anew or the slot is freed; wasinn reads it when compute has returned,
   * and asks `output` for it only after WASINN_OUTPUTS_ELSEWHERE. A slot may rest while its memory is gone: then the
   * output is bound anew before the next compute. Must not allocate when the place is that of the last call. After an
   * error the output is not bound. */
  wasinn_error* (*bind_output)(wasinn_backend_slot* slot, uint32_t index, const wasinn_tensor* tensor);

  /* There where graphs share slots: another context is next, perhaps another guest's. No input and no output is bound
   * any more, whose memory may be gone already, and nothing of the last computes can be seen in any later one: in no
   * output, error or limit. After an error the slot is freed, as is one that has grown to more memory than a new one is
   * worth. */
  wasinn_error* (*reset)(wasinn_backend_slot* slot);

  /* Optional. Out: zeroed memory of `bytes` for inputs of this graph, where inputs in memory of the backend's own choice
   * save a copy: memory of a device, or one that another OS process shares. Aligned and with a tail as bind_input has
   * it; dtype and dims are not set; given back by `release` before the graph is unloaded. wasinn charges `bytes`, asks
   * for large inputs only, and may bind any other memory nevertheless. Any thread. */
  wasinn_error* (*input_memory)(wasinn_backend_graph* graph, size_t bytes, wasinn_tensor* out);
} wasinn_backend;

/* The one exported function. Returns a table that stays valid for the life of the OS process, or NULL if the backend
 * cannot serve a host of this ABI version. Does not load the framework. */
WASINN_BACKEND_EXPORT const wasinn_backend* wasinn_backend_query(uint16_t host_abi_major, uint16_t host_abi_minor);

#ifdef __cplusplus
}
#endif
#endif /* WASINN_BACKEND_H_ */
