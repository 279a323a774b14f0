/* wasinn/backend.h - the contract between wasinn and a backend.
 *
 * A backend is a shared library that serves one ML framework: `libwasinn_backend_NAME.so` in one of the host's backend
 * folders. It exports one function, wasinn_backend_query, and hides every other symbol. It includes only this header of
 * wasinn, and does not link wasinn. docs/backend-guide.md shows how to write one.
 *
 * Objects: a backend (B) is the opened framework. It has graphs (G): models, loaded, compiled and immutable. A graph
 * has slots (S). A slot is the framework's request object, with the inputs and outputs of one running inference.
 *
 * Threads: functions of B and G are called from any thread, concurrently. Functions of one S are called one at a time,
 * from any thread; only `cancel` may run at the same time. Different slots of one graph compute in parallel.
 *
 * Lifetimes: wasinn frees every slot before its graph, and every graph before it closes the backend. A `const … **`
 * that a function gives out belongs to the object, and lives as long as the object.
 *
 * Errors: a function returns NULL for success, or an error. wasinn releases the error once. A backend never throws a
 * C++ exception out of a function, never aborts and never exits. It writes nothing to stdout or stderr, but logs
 * through the host services.
 *
 * Checks: before a call wasinn checks indices, and dtype, shape and byte length against the signature. It checks that
 * every input that is not optional was set since the slot was made, and that memory ranges are valid and the host's. It
 * does not check the bytes of a model. Treat a guest's model (builder path NULL) as an attack: it must not make the
 * backend read a file, load a library or open a connection.
 *
 * Environment: some frameworks take a setting only from an environment variable. ONNX Runtime's telemetry, for
 * instance, is off with ORT_DISABLE_TELEMETRY=1. The backend sets such a variable when it is opened, unless it is set
 * already. A program whose threads read the environment at that time must set these variables before it starts the
 * threads: docs/engine-guide.md.
 *
 * Versions: wasinn accepts a backend if its abi_major equals WASINN_BACKEND_ABI_MAJOR and its table has every function
 * that is not optional. New versions only append fields, so a struct_size shows which fields exist. wasinn copies the
 * table by its struct_size and takes later fields as absent. It reads `const … **` structs in the same way. In a struct
 * that the backend fills (wasinn_tensor), the caller has set struct_size: the backend writes the fields that both know,
 * and never struct_size. A struct_size of 0 is an error. Enums are passed as integers of a fixed width.
 */
#ifndef WASINN_BACKEND_H_
#define WASINN_BACKEND_H_

#include <wasinn/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WASINN_BACKEND_ABI_MAJOR 2
#define WASINN_BACKEND_ABI_MINOR 0

#define WASINN_BACKEND_EXPORT __attribute__((visibility("default")))

/* Opaque to wasinn. Each backend defines them itself. */
typedef struct wasinn_backend_state wasinn_backend_state; /* B */
typedef struct wasinn_backend_graph wasinn_backend_graph; /* G */
typedef struct wasinn_backend_slot wasinn_backend_slot;   /* S */

/* An error, allocated by the backend. */
typedef struct wasinn_error {
  uint32_t struct_size;
  uint32_t code;       /* wasinn_code, never WASINN_OK. The host takes a code that it does not know as RUNTIME_ERROR */
  const char* message; /* what was expected, what was found, the framework's own message; no trailing newline */
  void (*release)(struct wasinn_error* self);
} wasinn_error;

/* The host's functions for a backend; valid until close. */
typedef struct wasinn_host_services {
  uint32_t struct_size;
  void* host;
  /* Any thread. The message is copied. */
  void (*log)(void* host, uint32_t level, const char* message); /* wasinn_log_level */
  /* The host's thread budget. All computes of this backend together may use threads - 1 threads in addition to the
   * callers' own. 1: compute on the caller's thread only. */
  uint32_t threads;
  /* Charges `bytes` to `account` (from load or slot options). Negative `bytes` give memory back, which never fails. It
   * is for memory that a backend keeps between calls: caches, arenas, copies of a model; not for a model's own bytes,
   * nor for inputs and outputs. Call it from any thread, before allocating. It calls no function of the backend.
   * WASINN_ERROR_TOO_LARGE: a limit would be exceeded, and nothing was charged. Give all of it back before `slot_free`
   * or `unload` returns, or before a load or slot_new fails. NULL if the host is older. backends/common/reservation.h
   * does this. */
  uint32_t (*reserve)(void* host, void* account, int64_t bytes); /* wasinn_code */
} wasinn_host_services;

/* Bytes of a model, reference counted. A backend that needs them after load returns must retain them, and release them
 * later. */
typedef struct wasinn_builder {
  uint32_t struct_size;
  const uint8_t* data;
  size_t size;
  /* The file from which the host read the bytes, or the address that they are (wasinn_format.schemes). The host trusts
   * it, and the backend may open files next to it. NULL: the bytes come from a guest, and must not refer to anything
   * outside of them. */
  const char* path;
  void* owner;
  void (*retain)(void* owner);
  void (*release)(void* owner);
} wasinn_builder;

/* Bytes that every model of a format has at the same offset. */
typedef struct wasinn_magic {
  uint32_t offset;
  uint32_t size;
  const char* bytes;
} wasinn_magic;

enum {
  /* The backend maps a model's file itself. The host then maps the file, too, and reads no copy of it. */
  WASINN_FORMAT_MAPPED = 1u << 0
};

/* A format that a backend loads. Hosts know the formats that wasi-nn has numbers for (types.h); the fields here add to
 * that. They are all that a host knows about any other format. Without endings, users must name the format of a model.
 * Without magics and `recognise`, autodetect never finds it in bytes. */
typedef struct wasinn_format {
  uint32_t struct_size;
  uint32_t flags;             /* WASINN_FORMAT_* */
  const char* name;           /* "onnx": lower-case letters, digits, '-', '_', '.' */
  const char* const* endings; /* endings of file names: ".onnx"; in a model's folder the file is "model.onnx" */
  size_t n_endings;
  const char* const* files; /* more file names in a model's folder: "saved_model.pb" */
  size_t n_files;
  /* The ending of a second file: ".bin". It is next to the first, under the same name, and is the model's second
   * builder if it exists. NULL: models have one file. */
  const char* companion;
  const wasinn_magic* magics; /* each of them is enough to recognise the format */
  size_t n_magics;
  /* Returns not 0 if the bytes are the beginning of such a model. It is asked if no magic matches. `start` has the
   * first `n` of a builder's `size` bytes: perhaps an attacker's, cut anywhere and not aligned. Any thread. It must be
   * quick, allocate nothing and open no framework. May be NULL. */
  int32_t (*recognise)(const uint8_t* start, size_t n, uint64_t size);
  /* Schemes of addresses: "grpc", "https". If the path of a named model is SCHEME://…, the model is of this format. The
   * host then reads no file: the bytes and the path of the builder are that address. Guests cannot bring such a model. */
  const char* const* schemes;
  size_t n_schemes;
} wasinn_format;

typedef struct wasinn_load_options {
  uint32_t struct_size;
  uint32_t target;          /* wasinn_target */
  const char* format;       /* the format's name, as in wasinn_format; never NULL */
  const char* host_config;  /* JSON object, never NULL */
  const char* guest_config; /* JSON object, never NULL */
  /* If the target is missing: not 0, use the CPU and log that once; 0, fail with WASINN_ERROR_UNSUPPORTED_OPERATION. */
  int32_t cpu_fallback;
  /* Bytes that loading may allocate beyond a small multiple of the model's own size; 0: no limit. A framework that
   * cannot limit itself ignores it. */
  uint64_t max_bytes;
  /* The deadline of the load. The backend may register a `cancel` that interrupts its framework:
   * on_cancel(token, cancel, arg). After the deadline another thread calls it, perhaps again and again, until the
   * backend calls on_cancel(token, NULL, NULL). It is never called after that. The backend must do so before load
   * returns, even with an error. */
  void* token;
  void (*on_cancel)(void* token, void (*cancel)(void* arg), void* arg);
  /* The account for the memory that the model keeps, for host services' reserve; valid until unload returns. NULL: the
   * host pays, without a limit, because all guests share its models. */
  void* account;
} wasinn_load_options;

/* n_outputs of a model whose framework knows the outputs only after a compute. */
#define WASINN_COUNT_UNKNOWN UINT32_MAX

enum {
  /* Contexts may share slots: a slot has memory worth saving, and a result never depends on earlier computes. There are
   * then as many slots as computes run at once. Such a graph has `reset` and no `step`. */
  WASINN_GRAPH_SHARES_SLOTS = 1u << 0,
  /* A result may depend on earlier computes of its slot. So a slot serves one guest only, and there are no batches of
   * several guests. */
  WASINN_GRAPH_STATEFUL = 1u << 1
};

/* A model's signature. */
typedef struct wasinn_info {
  uint32_t struct_size;
  uint32_t n_inputs;
  uint32_t n_outputs; /* WASINN_COUNT_UNKNOWN: `outputs` is NULL, and wasinn_backend::outputs lists them */
  const wasinn_io* const* inputs;
  const wasinn_io* const* outputs;
  /* How many computes of this model may run at once; 0: no limit of its own. More of them would wait inside the
   * framework and keep places from other models, because running computes count against the host's max_computes.
   * UINT32_MAX: any number, not counted against max_computes. It is for a backend that evaluates many at a time and
   * limits them itself. */
  uint32_t max_parallel;
  uint32_t flags; /* WASINN_GRAPH_* */
  /* The memory of the device that computes the model: "cuda:0". NULL: the host's. Outputs can stay there
   * (wasinn_compute_options.kept), and go into any model of this backend that has the same memory. Without take_output
   * there is none. */
  const char* memory;
} wasinn_info;

typedef struct wasinn_slot_options {
  uint32_t struct_size;
  /* Bytes that one compute may allocate for outputs and intermediate values together; 0: no limit. A compute that needs
   * more fails with WASINN_ERROR_TOO_LARGE. A framework that cannot limit itself ignores it. */
  uint64_t max_bytes;
  const char* guest_config; /* JSON object of WASINN_KEY_CONTEXT keys, never NULL */
  /* The account for the memory that the slot keeps, for host services' reserve; valid until slot_free returns. It is
   * the guest's, from max_tensor_bytes of its limits. NULL: the host pays. */
  void* account;
  /* The deadline for making the slot, as in wasinn_load_options. Both may be NULL. */
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
  /* NULL: `data` is an address of the host's memory. Else it is the backend's own value for memory of this name, as in
   * wasinn_info: no other code reads it. Only kept outputs have such memory, and inputs that they become. */
  const char* memory;
} wasinn_tensor;

/* Flags of wasinn_compute_options. */
enum {
  /* The guest's program may have the pieces of output 0 as they come: the compute may answer WASINN_BY_STEPS. */
  WASINN_MAY_STEP = 1u << 0
};

/* The options of one compute. wasinn sets struct_size, and zeroes the fields that it does not know. */
typedef struct wasinn_compute_options {
  uint32_t struct_size;
  /* The indices of the wanted outputs, ascending, none twice. n_wanted 0: all. The backend need not produce the others.
   * If it holds memory for one of them, `output` shows it, so that wasinn can count it; else `output` shows 0 bytes.
   * The list is valid until compute returns. */
  uint32_t n_wanted;
  const uint32_t* wanted;
  /* wasinn calls `cancel` after this many milliseconds; 0: no deadline. */
  uint64_t deadline_ms;
  /* The slot's max_bytes for this compute; 0: as in the slot's options. A batch gets the sum of its inferences'. */
  uint64_t max_bytes;
  /* The indices of outputs that may stay in the graph's own memory (wasinn_info.memory), ascending, none twice. They
   * are wanted, not bound, and not WASINN_IO_ALWAYS. wasinn calls take_output for them, and binds what it gets as
   * another model's input. `output` and `take_output` show either that memory or the host's. 0 for graphs without such
   * memory. The list is valid until compute returns. */
  uint32_t n_kept;
  const uint32_t* kept;
  uint32_t flags; /* WASINN_MAY_STEP */
} wasinn_compute_options;

/* The report of a compute, besides its error. wasinn sets struct_size and zeroes the rest. */
enum {
  /* The signature was wrong, so some bound outputs are in other memory: `output` shows each bound output. */
  WASINN_OUTPUTS_ELSEWHERE = 1u << 0,
  /* Only with WASINN_MAY_STEP. The settings ask for pieces as they come, so nothing was computed: instead of this
   * compute wasinn calls step and piece until a step returns an error, then finish. */
  WASINN_BY_STEPS = 1u << 1
};
typedef struct wasinn_compute_result {
  uint32_t struct_size;
  uint32_t flags; /* WASINN_OUTPUTS_ELSEWHERE, WASINN_BY_STEPS */
} wasinn_compute_result;

/* The framework of an opened backend. */
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
  const char* version;                 /* the backend's version, not the framework's */
  const wasinn_format* const* formats; /* the formats that it loads */
  size_t n_formats;
  const wasinn_key* keys;
  size_t n_keys;
  const char* install; /* the command that installs its framework, for messages; "" if it needs none */

  /* Opens the framework. `config`: JSON object of WASINN_KEY_BACKEND keys. Called once for each host, and perhaps for
   * several hosts in one OS process. If the framework is missing: WASINN_ERROR_UNSUPPORTED_OPERATION, and the first
   * line of its message says how to install the framework. The lines after that name the files that it looked for. They
   * are for the host's log only, as every path should be: guests get messages. */
  wasinn_error* (*open)(const wasinn_host_services* services, const char* config, wasinn_backend_state** out);
  void (*close)(wasinn_backend_state* backend);
  wasinn_error* (*backend_info)(wasinn_backend_state* backend, const wasinn_backend_info** out);

  /* Parses and compiles a model. If the bytes are not of the format: WASINN_ERROR_INVALID_ENCODING. */
  wasinn_error* (*load)(wasinn_backend_state* backend, const wasinn_builder* const* builders, size_t n_builders,
                        const wasinn_load_options* options, wasinn_backend_graph** out);
  void (*unload)(wasinn_backend_graph* graph);
  wasinn_error* (*info)(wasinn_backend_graph* graph, const wasinn_info** out);

  wasinn_error* (*slot_new)(wasinn_backend_graph* graph, const wasinn_slot_options* options, wasinn_backend_slot** out);
  void (*slot_free)(wasinn_backend_slot* slot);

  /* Binds an input: from now on input `index` is the memory of `tensor`, without a copy. There is no other way to set
   * an input.
   *  - Owner: the host, a guest (for one compute only), or another slot of this backend (take_output). A kept output of
   *    another slot may be in the graph's own memory: then `memory` is set, and there is no tail.
   *  - Place: aligned to bind_align, with WASINN_TENSOR_TAIL readable bytes behind it. Memory that this backend gave
   *    away itself has a tail only if the backend gave it one.
   *  - Lifetime: until the input is bound again or unbound, or the slot is freed. If the graph shares slots, the memory
   *    may be freed while the slot is idle. Then the next call binds the input again, unbinds it, or is `reset`.
   *  - Its bytes may change between computes without another call. Read them only in compute and step. When these
   *    return, no output may be in them. A framework may break that: its state takes over an input's memory, or
   *    outputs are inputs. Then the backend copies in each compute, into memory that it reserves.
   *  - A WASINN_IO_OPAQUE input is bound again whenever its bytes change. It may be read at any time until then.
   *  - Must not allocate if place, dtype and dims are those of the last call. After an error the input is unset. */
  wasinn_error* (*bind_input)(wasinn_backend_slot* slot, uint32_t index, const wasinn_tensor* tensor);
  /* Makes the input unset, as if it had never been set. The backend does not read its memory any more, even if the
   * framework still has the address. The outputs of the last compute stay. */
  void (*unbind_input)(wasinn_backend_slot* slot, uint32_t index);
  /* Runs the model on the inputs and produces the wanted outputs. After an error the inputs stay as they are, and there
   * are no outputs. Only after WASINN_ERROR_CONTEXT_FULL the outputs show what was generated so far: there was no room
   * for the rest, or `cancel` has cut the text. If a wanted output is WASINN_IO_BINDABLE, not bound and not kept:
   * WASINN_ERROR_INVALID_ARGUMENT. */
  wasinn_error* (*compute)(wasinn_backend_slot* slot, const wasinn_compute_options* options,
                           wasinn_compute_result* result);
  /* Out: a view of output `index` of the last successful compute, borrowed until the next compute or slot_free. Only
   * for outputs that are not bound. If the framework cannot show the output as a tensor of numbers:
   * WASINN_ERROR_UNSUPPORTED_OPERATION, with the output's type in the message. */
  wasinn_error* (*output)(wasinn_backend_slot* slot, uint32_t index, wasinn_tensor* view);

  /* Optional, or NULL. Makes the running compute of this slot return soon, with an error. Another thread calls it every
   * few milliseconds until compute has returned, never beside itself. It may arrive just before compute begins its work
   * or just after compute has done it, but never after compute has returned: wasinn waits for a `cancel` that is under
   * way before it calls anything else of the slot. So `cancel` must not block, and a flag that it sets is cleared at
   * the beginning of a compute. */
  void (*cancel)(wasinn_backend_slot* slot);
  /* Optional. Frees the outputs of the last compute, because they exceed a limit. Buffers of a size that the signature
   * fixes may stay for the next compute. The backend may keep other parts if its state needs them, or if allocating
   * them again would take longer; it charges them until the next compute. There is no output until the next compute. A
   * WASINN_IO_UNSERVABLE output must never stay after a compute, because nothing counts it. */
  void (*discard_outputs)(wasinn_backend_slot* slot);

  /* Optional. Out: output `index` of the last successful compute, with its memory. The caller owns it: it outlives the
   * next compute and the slot. The caller releases it before the graph is unloaded. `dims` are only valid until the
   * next call. wasinn calls it at most once for each compute and output, and never for a bound output. Afterwards
   * `output` does not show the output any more. */
  wasinn_error* (*take_output)(wasinn_backend_slot* slot, uint32_t index, wasinn_tensor* out);
  /* Required if a model's n_outputs is WASINN_COUNT_UNKNOWN. Out: the outputs of the last successful compute, borrowed
   * until the next. */
  wasinn_error* (*outputs)(wasinn_backend_slot* slot, const wasinn_io* const** out, uint32_t* n);
  /* Optional. Returns facts about a model beyond its signature, as the text of one JSON object:
   * {"device": "CPU", "precision": "f32"}. The text lives as long as the graph. */
  const char* (*describe)(wasinn_backend_graph* graph);

  /* step, piece and finish are optional, all three or none. They are for models that generate their outputs piece by
   * piece. `cancel` interrupts a step as it interrupts a compute.
   * step produces the next piece. The first step begins a generation from the inputs. The generation goes on until
   * finish, the next compute, or until an input is set. WASINN_ERROR_END_OF_SEQUENCE: there was no further piece, and
   * there will be none until finish. The same holds for WASINN_ERROR_CONTEXT_FULL. During a generation, and after it
   * until the next compute or step, `output` shows everything that it has produced so far. */
  wasinn_error* (*step)(wasinn_backend_slot* slot);
  /* Out: a view of the newest piece of output `index`, after a step that returned NULL; borrowed until the next call.
   * Pieces of text have whole characters only, so a piece may be empty. */
  wasinn_error* (*piece)(wasinn_backend_slot* slot, uint32_t index, wasinn_tensor* view);
  /* Ends the current generation. Without one it succeeds and does nothing. */
  wasinn_error* (*finish)(wasinn_backend_slot* slot);

  /* The alignment that bind_input needs for memory, a power of two; 0: 64. Elements are always aligned to their
   * size. */
  uint32_t bind_align;

  /* Required if an output is WASINN_IO_BINDABLE. From now on each compute writes output `index` to the memory of
   * `tensor`, which has the dtype, dims and bytes of the signature.
   *  - The memory is the host's, aligned and with a tail like an input's. It is valid until the output is bound again
   *    or the slot is freed. It may be freed while the slot is idle; then the next call binds the output again.
   *  - wasinn reads it after compute has returned. It calls `output` for it only after WASINN_OUTPUTS_ELSEWHERE.
   *  - Must not allocate if the place is that of the last call. After an error the output is not bound. */
  wasinn_error* (*bind_output)(wasinn_backend_slot* slot, uint32_t index, const wasinn_tensor* tensor);

  /* Required if graphs share slots. Prepares the slot for another context, perhaps another guest's. It unbinds all
   * inputs and outputs, whose memory may be gone already. No later output, error or limit may show anything of
   * earlier computes. After an error wasinn frees the slot. Also return an error if the slot
   * holds much more memory than a new one needs. */
  wasinn_error* (*reset)(wasinn_backend_slot* slot);

  /* Optional. Out: `bytes` of zeroed memory for inputs of this graph. For a backend that saves a copy if inputs are in
   * memory of its own choice: a device's, or memory that another OS process shares. Aligned and with a tail as in
   * bind_input; dtype and dims are not set. wasinn releases it before the graph is unloaded. wasinn charges `bytes`,
   * asks for large inputs only, and may still bind any other memory. Any thread. */
  wasinn_error* (*input_memory)(wasinn_backend_graph* graph, size_t bytes, wasinn_tensor* out);

  /* Optional. The same as compute, but returns before the model has run, and no thread waits for it. It is for computes
   * that happen elsewhere, at a server for instance. wasinn calls it only for graphs whose max_parallel is UINT32_MAX,
   * and otherwise `compute`.
   *  - NULL: the compute has begun, and `done` is called exactly once, with what compute would have returned. It may
   *    come from any thread, before compute_async returns, or within `cancel`. An error: nothing has begun, and `done`
   *    is never called.
   *  - `options`, its list and `result` are valid until `done` is called. Until then wasinn calls only `cancel` of this
   *    slot. A `cancel` that is under way may go on while `done` is called, and after it.
   *  - `done` does not block and calls no function of the table, so a lock may be held. From then on the slot is
   *    wasinn's: the backend touches neither the slot, unless it is in `cancel`, nor `options` or `result`.
   *  - A second `done` of the same compute is an error of the backend: wasinn logs it as long as the slot lives. */
  wasinn_error* (*compute_async)(wasinn_backend_slot* slot, const wasinn_compute_options* options,
                                 wasinn_compute_result* result, void (*done)(void* user, wasinn_error* error),
                                 void* user);

  /* Optional. In a worker: opens a file of native code that loads of a named model will need, before the worker's
   * sandbox is closed: a library of its key op_libraries, or the model, if its file's name ends in .pt2. Without it
   * libraries are opened by dlopen. */
  wasinn_error* (*open_code)(wasinn_backend_state* backend, const char* path);
} wasinn_backend;

/* The only exported function. Returns a table that stays valid for the life of the OS process, or NULL if the backend
 * cannot serve a host of this ABI version. Does not open the framework. */
WASINN_BACKEND_EXPORT const wasinn_backend* wasinn_backend_query(uint16_t host_abi_major, uint16_t host_abi_minor);

#ifdef __cplusplus
}
#endif
#endif /* WASINN_BACKEND_H_ */
