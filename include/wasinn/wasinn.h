/* wasinn/wasinn.h - the C API of wasinn, for programs that embed a Wasm engine and for engine adapters.
 *
 * A *host* holds what one OS process shares: backends (ML frameworks), models, default limits and policy. A *guest*
 * is one program in the sandbox, with its handles and quotas. An engine adapter (wasinn/wasmtime.h …) makes the functions of
 * wasi-nn callable by guests; an engine that has none is served through wasinn_functions().
 *
 *     wasinn_config *config = wasinn_config_new();
 *     wasinn_host *host;
 *     wasinn_status *status = wasinn_host_new(config, NULL, NULL, &host);
 *     wasinn_model_options model = {.struct_size = sizeof(model), .path = "digits.onnx"};
 *     if (status == NULL) status = wasinn_host_add_model(host, "digits", &model);
 *     wasinn_guest *guest;
 *     if (status == NULL) status = wasinn_guest_new(host, NULL, &guest);
 *     … link, instantiate, run …
 *     wasinn_guest_close(guest);  // before the store or instance goes
 *     wasinn_guest_free(guest);
 *     wasinn_host_free(host);
 *
 * Conventions:
 *  - A function that can fail returns a `wasinn_status *`: NULL is success; anything else the caller frees.
 *  - `_free` accepts NULL. An out parameter is written only on success.
 *  - A struct with a struct_size is read and filled up to that size, which the library never changes; 0 is an error.
 *  - Hosts and guests may be used from any thread at the same time. Configs and statuses belong to one thread at
 *    a time.
 *  - The library keeps no global state, never writes to stdout or stderr, never aborts or exits.
 *  - A guest begins with wasinn_guest_new and ends with wasinn_guest_close, whatever the engine; an adapter says no more
 *    than whose a call is. Order at the end: wasinn_guest_close, then the engine's store or instance, then
 *    wasinn_guest_free, then wasinn_host_free. A host lives on inside until its last guest is freed.
 */
#ifndef WASINN_WASINN_H_
#define WASINN_WASINN_H_

#include <stdbool.h>
#include <wasinn/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define WASINN_API
#else
#define WASINN_API __attribute__((visibility("default")))
#endif
#if defined(__GNUC__)
#define WASINN_MUST_CHECK __attribute__((warn_unused_result))
#else
#define WASINN_MUST_CHECK
#endif

/* "0.1.0": the version of the library that is loaded. */
WASINN_API const char* wasinn_version(void);

/* ---- Status ---------------------------------------------------------------------------------------------------- */

typedef struct wasinn_status wasinn_status;

/* NULL is WASINN_OK with an empty message. Strings live as long as the status. */
WASINN_API wasinn_code wasinn_status_code(const wasinn_status* status);
WASINN_API const char* wasinn_status_message(const wasinn_status* status);
/* The backend that reported the error, "" if none did. */
WASINN_API const char* wasinn_status_backend(const wasinn_status* status);
WASINN_API void wasinn_status_free(wasinn_status* status);
/* "invalid_argument" and so on. Never NULL. */
WASINN_API const char* wasinn_code_name(wasinn_code code);
/* For engine adapters: a new error; the message is copied. */
WASINN_API wasinn_status* wasinn_status_new(wasinn_code code, const char* message);

/* "f32", "cpu": the words of the command line and of messages. Never NULL. */
WASINN_API const char* wasinn_dtype_name(wasinn_dtype dtype);
WASINN_API const char* wasinn_target_name(wasinn_target target);
/* The inverse, ignoring case. INVALID_ARGUMENT lists the words that are known. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_target_parse(const char* word, wasinn_target* out);

/* ---- Configuration --------------------------------------------------------------------------------------------- */

/* Settings of a host, as docs/configuration.md lists them: one set of keys for the TOML file, for this API and for the
 * command line. What is set later wins. An unknown key is an error that names the nearest known one. */
typedef struct wasinn_config wasinn_config;

WASINN_API wasinn_config* wasinn_config_new(void);
WASINN_API void wasinn_config_free(wasinn_config* config);
/* Relative paths in a file are relative to the file's folder. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_config_load_file(wasinn_config* config, const char* path);
/* Relative paths in a text, and in a value set by hand, are relative to the working directory of the moment. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_config_load_toml(wasinn_config* config, const char* toml);
/* `key` is dotted: "limits.max_graphs"; `value` is a TOML value, "8", "true", "[\"a\"]", or else taken as a string. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_config_set(wasinn_config* config, const char* key,
                                                              const char* value);

/* One step that took time, told when it has ended, on the thread that did it. Strings and struct are valid during the call. */
typedef struct wasinn_span {
  uint32_t struct_size;
  wasinn_code code; /* how a "load" or an "inference" ended; WASINN_OK for the steps inside of one */
  /* "load", "inference", and its steps "queue", "compute_input", "compute_infer" and "compute_output"; docs/metrics.md says
   * what each of them is. More may come. */
  const char* name;
  uint64_t start_ns, duration_ns; /* of the system's CLOCK_MONOTONIC, which is C++'s steady_clock */
  uint64_t thread;                /* the system's number of the thread */
  uint64_t guest;                 /* numbered from 1 in each host; 0: what the host does by itself */
  const char* guest_name;         /* as wasinn_guest_options has it; "": none */
  uint64_t inference;             /* numbered from 1 in each host: steps of the same one have the same; 0: of none */
  const char* model;              /* the registered name, or "guest": brought by a guest */
  uint32_t version;               /* 0: brought by a guest */
  const char* backend;            /* "": not known yet */
} wasinn_span;
/* Called from any thread, also concurrently. A step comes before what it is a part of: "queue" before its "inference". Must
 * not block for long, must not call wasinn. */
typedef void (*wasinn_span_fn)(void* user, const wasinn_span* span);
/* Hosts that are made of this config tell `fn` (NULL: nobody) of their spans, and measure times as with the setting
 * `metrics`. Both must stay valid until the last guest of the last such host is freed. */
WASINN_API void wasinn_config_on_span(wasinn_config* config, wasinn_span_fn fn, void* user);

/* ---- Limits and policy: what a guest may use ------------------------------------------------------------------- */

/* Per guest. The defaults are meant for those that nobody trusts. 0 means none at all for a count of bytes or
 * objects, and no deadline for a time. */
typedef struct wasinn_limits {
  uint32_t struct_size;
  uint32_t max_graphs;         /* graphs held at once; 64 */
  uint32_t max_contexts;       /* contexts held at once; 256 */
  uint32_t max_builders;       /* parts of one model; 16 */
  uint32_t max_name_bytes;     /* length of a model's name; 1024 */
  uint32_t max_log_messages;   /* errors of this guest that the log gets; 100, then one line that says so. 0: not
                                even that */
  uint64_t max_model_bytes;    /* bytes of all models held that the guest itself loaded, and what backends keep
                                  for these beside; 1 GiB */
  uint64_t max_tensor_bytes;   /* bytes of all inputs and outputs held, with what backends keep for contexts beside
                                  (caches, arenas); also what one compute allocates; 1 GiB */
  uint32_t load_timeout_ms;    /* for one load of a guest's own bytes; 60,000 */
  uint32_t compute_timeout_ms; /* for one compute; 30,000 */
  uint32_t max_tensors;        /* tensors that a component holds at once; 16,384 */
  uint32_t max_errors;         /* error objects that a component holds at once; 1,024 */
  uint32_t max_threads;        /* threads beside its first; 64. For who runs the guest, as the command does: the library
                                  starts none for a guest, and does not look at it */
  uint32_t run_timeout_ms;     /* for the whole run of its program, see wasinn_guest_begin_run; 0 */
  /* As max_threads, for who runs the guest; the library does not look at them. */
  uint64_t max_memory_bytes;   /* of all its linear memories: growing beyond fails; UINT64_MAX, as the engine has it */
  uint64_t max_table_elements; /* of each of its tables, likewise; UINT64_MAX */
  uint64_t max_fuel;           /* what it may use of the engine's measure for work; 0: nobody measures */
} wasinn_limits;

enum { WASINN_ALL_TARGETS = 0x7fffffff };

/* Whose numbers a guest uses for model formats: those of wasi-nn.witx, WasmEdge and WAMR differ from 5 on. */
typedef enum wasinn_dialect {
  WASINN_DIALECT_DEFAULT = 0,  /* "witx": wasi-nn.witx, where 5 is autodetect; 6 leaves it to the bytes, too */
  WASINN_DIALECT_WASMEDGE = 1, /* "wasmedge": 5 autodetect, 6 ggml */
  WASINN_DIALECT_WAMR = 2      /* "wamr": 5 ggml, 6 autodetect */
} wasinn_dialect;

/* Where the bytes of an input are between set_input and compute. */
typedef enum wasinn_inputs {
  WASINN_INPUTS_COPIED = 0, /* "copied": in memory of the host, from set_input on */
  /* "by-reference": in the guest's memory, where the framework reads them at each compute, if it can and if no other
   * thread of the guest can write there; else copied. For guests that keep an input's buffer as it is until the last
   * compute on it; docs/configuration.md has the conditions and the risk. Core modules only. */
  WASINN_INPUTS_BY_REFERENCE = 1
} wasinn_inputs;

/* Where models run that a guest brings as bytes. */
typedef enum wasinn_load {
  WASINN_LOAD_DENY = 0, /* "deny": nowhere; it may use named ones only */
  /* "isolated": in a worker, an OS process of its own for each guest (or tenant) and framework. What the model does to its framework
   * ends that worker at most: the guest's calls say WASINN_LOST, and no other guest notices. */
  WASINN_LOAD_ISOLATED = 1,
  /* "in-process": in this OS process. For guests whose models are trusted: a framework's parser is no wall. */
  WASINN_LOAD_IN_PROCESS = 2
} wasinn_load;

/* What a guest may ask for. */
typedef struct wasinn_policy {
  uint32_t struct_size;
  wasinn_load load;          /* models from the guest's own bytes; ISOLATED */
  bool cpu_fallback;         /* target gpu or tpu may run on the CPU where the device is missing, logged once; false */
  uint32_t targets;          /* bit 1u << wasinn_target for each allowed one, for load; all */
  const char* const* models; /* names that load_by_name may use; NULL: every registered one */
  size_t n_models;
  wasinn_dialect dialect;       /* how its numbers are read; DEFAULT */
  wasinn_inputs inputs;         /* COPIED */
  const char* const* encodings; /* names of formats that it may load; NULL: every one */
  size_t n_encodings;
  /* Guests of the host with the same one trust each other, and share workers (WASINN_LOAD_ISOLATED): fewer OS processes,
   * each with the limits of bytes of the guest that came first, for all of them. What one guest's model does to its framework may
   * cost the others theirs. NULL or "": each guest has its own. */
  const char* tenant;
  /* Of guests whose computes wait for the same places (max_computes, or a model's own), one of weight 3 has three turns
   * for each one of a guest of weight 1. From 1 to 1,000; 0 is 1. Nobody waits who finds a free place. */
  uint32_t weight;
} wasinn_policy;

/* ---- Engine: how programs are run ------------------------------------------------------------------------------- */

/* Settings of whoever runs programs, as the command does: the library has no engine, and does not look at them. */
typedef struct wasinn_engine_options {
  uint32_t struct_size;
  bool allow_precompiled;     /* run files of native code, which no sandbox holds; false */
  uint32_t pool_instances;    /* memories of guests that the engine has room for at once, and reuses; 0: no pool */
  uint64_t pool_memory_bytes; /* what each of these may grow to, for which address space is taken; 0: 4 GiB */
} wasinn_engine_options;

/* ---- Host ------------------------------------------------------------------------------------------------------- */

typedef struct wasinn_host wasinn_host;

/* Called from any thread, also concurrently. `message` is one line without control characters, valid during the call.
 * Must not call wasinn. */
typedef void (*wasinn_log_fn)(void* user, wasinn_log_level level, const char* message);

/* `config` (NULL: defaults) is read now and not kept. `log` (NULL: none) and `user` must stay valid until the last
 * guest of the host is freed. Opens no framework yet: that happens when a model first needs it. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_host_new(const wasinn_config* config, wasinn_log_fn log, void* user,
                                                            wasinn_host** out);
WASINN_API void wasinn_host_free(wasinn_host* host);

/* The limits that the host's guests have by default. `out`: set its struct_size. Fails only if that is 0, as the
 * other functions do that fill a struct. */
WASINN_API wasinn_status* wasinn_host_limits(const wasinn_host* host, wasinn_limits* out);
/* The policy, likewise; its `models` and `encodings` are valid as long as the host. */
WASINN_API wasinn_status* wasinn_host_policy(const wasinn_host* host, wasinn_policy* out);
/* The section [engine] of its settings, likewise. */
WASINN_API wasinn_status* wasinn_host_engine_options(const wasinn_host* host, wasinn_engine_options* out);

typedef struct wasinn_bytes {
  const uint8_t* data;
  size_t size;
} wasinn_bytes;

/* Inferences of separate guests on one model become one, in Triton's words; docs/batching.md. Their rows, the first
 * dimension of each input and output, are computed together, which must change no row's result. */
typedef struct wasinn_batching {
  uint32_t struct_size;
  uint32_t max_batch_size; /* rows of one batch, 1 to 4,096 */
  /* As many rows are not waited for any longer; each from 1 to max_batch_size. */
  const uint32_t* preferred_batch_size;
  size_t n_preferred_batch_size;
  uint32_t max_queue_delay_microseconds; /* how long an inference waits for others; 0: for a free instance alone */
  /* Batches that compute at once, 256 at most; 0: as many as the processors have room for, with the threads of each. */
  uint32_t instance_count;
} wasinn_batching;
/* A tensor of a pipeline: what the model of a step calls it, and what the pipeline does. */
typedef struct wasinn_tensor_name {
  const char* model;
  const char* pipeline;
} wasinn_tensor_name;

/* A model that a pipeline computes, by the words of Triton's ensembles; docs/pipelines.md. */
typedef struct wasinn_step {
  uint32_t struct_size;
  const char* model_name;              /* registered when the pipeline is loaded; "NAME:2" is a version */
  const wasinn_tensor_name* input_map; /* none: the inputs have the model's names */
  size_t n_input_map;
  const wasinn_tensor_name* output_map; /* none: the outputs have the model's names */
  size_t n_output_map;
} wasinn_step;

/* A model that guests name. */
typedef struct wasinn_model_options {
  uint32_t struct_size;
  const char* path; /* a model file, or a folder in the layout that Triton and Wasmtime use; or NULL and bytes: */
  const wasinn_bytes* bytes; /* one element per part; copied */
  size_t n_bytes;
  const char* encoding; /* the format's name; NULL or "autodetect": by the file's name or bytes */
  wasinn_target target;
  uint32_t version;   /* guests ask for "NAME:2"; 0: the folder's versions, or 1 */
  const char* config; /* JSON object for the backend, as [models.NAME.config]; NULL: {} */
  bool immutable; /* the file never changes: map it instead of copying (truncating a mapped file kills the reader) */
  bool preload;   /* compile now and report errors now, not when a guest first names it */
  const char* backend; /* by name, where another one than the usual shall serve the encoding; NULL: the usual */
  /* Run it in a worker of its own (WASINN_LOAD_ISOLATED): a file that is not quite trusted. False leaves it to the
   * host's setting isolate_models. */
  bool isolate;
  /* So many computes on zeros, 1,000 at most, are part of a load, before any guest gets the model, in the signature's
   * shapes with 1 for each open dimension; docs/configuration.md. One that fails is a load that fails. */
  uint32_t warm_up;
  const wasinn_batching* batching; /* NULL: each inference by itself */
  /* A pipeline, in place of path, bytes and whatever else is said of these: one compute of it computes all of them, in
   * this order, and outputs stay where they are on their way. NULL: it is none. */
  const wasinn_step* const* steps;
  size_t n_steps;
  const char* const* inputs; /* names, in their order; NULL: what no step makes */
  size_t n_inputs;
  const char* const* outputs; /* likewise; NULL: what no step takes */
  size_t n_outputs;
} wasinn_model_options;

/* Registers a model. The file is read and compiled once, when first named or now if `preload`, and shared by every
 * guest that names it. A name and version that exist already are replaced: guests keep the graph they have, later ones
 * get the new; not if a `preload` fails, which changes nothing. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_host_add_model(wasinn_host* host, const char* name,
                                                                  const wasinn_model_options* options);
/* Registers every model of a folder in which each subfolder is a model: NAME/model.onnx, NAME/1/model.onnx. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_host_add_models(wasinn_host* host, const char* folder);
/* Removes all versions of a name, or one of "NAME:2". Guests that hold it keep it; its memory goes with the last of
 * them. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_host_remove_model(wasinn_host* host, const char* name);
/* Lets go of what was compiled for a name, or for one of "NAME:2", which stays registered: who names it next has it read and
 * compiled anew, from its files as they are by then. Guests that hold it keep it; its memory goes with the last of them. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_host_unload_model(wasinn_host* host, const char* name);

/* Whether a model's `encoding` may be this word. INVALID_ARGUMENT lists the formats that wasi-nn has numbers for and
 * those that the host's backends serve. Opens no framework. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_host_check_encoding(wasinn_host* host, const char* word);

typedef struct wasinn_model_info {
  uint32_t struct_size;
  const char* name;
  uint32_t version;
  /* "" while nothing but the bytes can tell it and they were not looked at yet; "pipeline" for one. */
  const char* encoding;
  wasinn_target target;
  const char* path;  /* "" if it came as bytes */
  bool loaded;       /* compiled and ready */
  uint64_t compiles; /* how often it was compiled: 0 or 1, more only after failures */
  /* What it runs on, as wasinn_backend_report has them; "" until it is loaded. */
  const char* backend;
  const char* framework;
  const char* library;
  /* Of a pipeline: the models of its steps, in their order; n_steps 0: it is none. */
  const char* const* steps;
  size_t n_steps;
} wasinn_model_info;
typedef void (*wasinn_model_fn)(void* user, const wasinn_model_info* model);
/* Calls `fn` for each registered model, sorted by name and version. `fn` must not call wasinn. */
WASINN_API void wasinn_host_models(wasinn_host* host, wasinn_model_fn fn, void* user);

typedef void (*wasinn_io_fn)(void* user, bool is_output, uint32_t index, const wasinn_io* io);
/* Loads a registered model if it is not loaded, and calls `fn` for each input, then each output. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_host_inspect(wasinn_host* host, const char* name, wasinn_io_fn fn,
                                                                void* user);

typedef struct wasinn_backend_report {
  uint32_t struct_size;
  const char* name;      /* "onnx" */
  const char* encodings; /* "onnx" */
  bool available;
  const char* framework;  /* "ONNX Runtime 1.31.1"; "" if not available */
  const char* devices;    /* "cpu"; "" if not available */
  const char* library;    /* the framework's file; "" if not available */
  const char* missing;    /* what is missing, "" if available */
  const char* install;    /* the command that installs it; "" if available, or if there is none, or it would not help */
  const wasinn_key* keys; /* configuration that it knows; const, valid for the life of the OS process */
  size_t n_keys;
} wasinn_backend_report;
typedef void (*wasinn_backend_fn)(void* user, const wasinn_backend_report* backend);
/* Calls `fn` for each known backend, opening those whose framework is there. `fn` must not call wasinn. */
WASINN_API void wasinn_host_backends(wasinn_host* host, wasinn_backend_fn fn, void* user);

typedef void (*wasinn_text_fn)(void* user, const char* text, size_t size);
/* Calls `fn` once with what the host counts, in Prometheus' text format 0.0.4, which docs/metrics.md lists; `text` has no
 * NUL inside, one at its end, and is valid during the call. `fn` must not call wasinn.
 *  - From any thread, at any time; calls of guests wait at most for a few loads of a counter. Each number is one that was
 *    true at some moment of the call, and no counter ever goes back while its model is registered or used.
 *  - How long computes and their steps take is there only with the setting `metrics = true`, or a function for spans: else
 *    no clock is read for it.
 *  - Names, types, units and labels are as stable as functions of this header; new ones may come, also labels. Help texts and
 *    bounds of histograms may change at any time. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_host_metrics(wasinn_host* host, wasinn_text_fn fn, void* user);

/* ---- Guest ------------------------------------------------------------------------------------------------------ */

/* One guest program: all instances and threads of it share its handles. */
typedef struct wasinn_guest wasinn_guest;

typedef struct wasinn_guest_options {
  uint32_t struct_size;
  const char* name;            /* for the log; NULL: none. Copied */
  const wasinn_limits* limits; /* NULL: the host's, as are those that lie beyond its struct_size. Copied */
  const wasinn_policy* policy; /* NULL: the host's. Copied */
} wasinn_guest_options;

WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_guest_new(wasinn_host* host, const wasinn_guest_options* options,
                                                             wasinn_guest** out);
/* Refuses new calls, cancels what runs and waits until no call of the guest is inside; only then may guest memory go.
 * Frees the guest's graphs and contexts. May be called more than once. Must not be called from inside a guest's call.
 */
WASINN_API void wasinn_guest_close(wasinn_guest* guest);
/* Refuses new calls, cancels what runs, and interrupts the guest's run if it has begun one. Does not wait; from any thread,
 * also from inside a guest's call. wasinn_guest_close is still to be called. */
WASINN_API void wasinn_guest_stop(wasinn_guest* guest);
/* Closes if need be. Where nobody keeps a reference, `guest` is gone. */
WASINN_API void wasinn_guest_free(wasinn_guest* guest);

/* For adapters: a store or an instance may call when its guest has been freed, as a thread does that slept in the system
 * when its guest ended. A reference keeps what answers such a call with runtime_error, and nothing of the host. Made
 * before wasinn_guest_free, given back once, from any thread. Once the guest has been freed, calls and
 * wasinn_guest_statistics may still be made by it. Returns the guest; NULL is fine for both. */
WASINN_API wasinn_guest* wasinn_guest_retain(wasinn_guest* guest);
WASINN_API void wasinn_guest_release(wasinn_guest* guest);

/* Begins the run of a guest's program, which may last for the guest's run_timeout_ms, its own endless loops included. A
 * guest has one run at a time, of all its threads together. When the deadline has passed, or the guest is stopped or closed,
 * the guest is closed to new calls, what runs is cancelled, and `interrupt` is called: it asks the engine to end the program.
 *  - It is called again and again, about every 10 ms, until wasinn_guest_end_run or wasinn_guest_close has returned, and
 *    never after that; not by two threads at once.
 *  - On a thread of the host's, which looks at the deadlines of all guests, or on the one that stops or closes. It must not
 *    block and must not call wasinn.
 * RUNTIME_ERROR if the guest is closed, has a run already, or the system gives no thread for the deadline. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_guest_begin_run(wasinn_guest* guest, void (*interrupt)(void* user),
                                                                   void* user);
/* Waits while `interrupt` is being called. True if the deadline had passed; a run that never began ends as false. From the
 * thread that began it, or any other. */
WASINN_API bool wasinn_guest_end_run(wasinn_guest* guest);

/* What a guest uses and did. */
typedef struct wasinn_guest_stats {
  uint32_t struct_size;
  uint32_t graphs, contexts;          /* held now */
  uint64_t model_bytes, tensor_bytes; /* held now, as the limits count them */
  uint64_t copies_in, copies_out;     /* copies of tensor bytes that wasinn made, all told */
  uint64_t bytes_in, bytes_out;       /* bytes of those copies */
  uint64_t model_bytes_copied;        /* bytes of models copied out of guest memory */
  uint64_t computes, errors;          /* calls to compute; calls of any function that ended in an error */
  uint32_t tensors, error_objects;    /* of a component, held now */
  uint32_t inside;                    /* whether any call of it is inside now: 1 or 0 */
} wasinn_guest_stats;
/* `out`: set its struct_size; fails only if that is 0. */
WASINN_API wasinn_status* wasinn_guest_statistics(const wasinn_guest* guest, wasinn_guest_stats* out);

/* ---- For engines: docs/engine-guide.md goes through an adapter -------------------------------------------------- */

/* The export of a module that is its memory; one that has no such export has none. */
#define WASINN_MEMORY_NAME "memory"

/* A guest's linear memory during one call. */
typedef struct wasinn_memory {
  uint32_t struct_size;
  uint32_t flags; /* WASINN_MEMORY_* */
  uint8_t* base;  /* NULL: the module exports no memory */
  uint64_t size;  /* bytes */
  /* Which memory it is: the same at each call for as long as the memory lives, also when it has grown or moved, and
   * never that of another memory that lives. Zeros: the engine does not tell; inputs of the guest are always copied
   * then. Read only where the policy says WASINN_INPUTS_BY_REFERENCE. */
  uint64_t id[2];
} wasinn_memory;
enum { WASINN_MEMORY_SHARED = 1u << 0 /* other threads may write it during the call */ };

/* What an adapter may rely on, in this and all later versions: a function of the table takes at most so many
 * parameters, all of them i32, and returns one i32. What needs another type will be in a table of its own. */
enum { WASINN_MAX_PARAMS = 8 };

/* One function that a guest may import. */
typedef struct wasinn_function {
  uint32_t struct_size;
  uint32_t flags;      /* WASINN_FUNCTION_* */
  const char* module;  /* "wasi_ephemeral_nn" */
  const char* name;    /* "load" */
  const char* params;  /* "iii": one letter a parameter, 'i' for i32 */
  const char* results; /* "i" */
  /* Does the call, on any thread. `args` are the parameters as the engine has them: each is the first four bytes of an
   * element, and elements lie `stride` bytes apart; whatever else is in them is not looked at. `guest` NULL, or one that
   * is closed, answers with an error. The result is the errno. Never traps; never keeps a pointer into `memory` or
   * `args`. */
  uint32_t (*call)(wasinn_guest* guest, const wasinn_memory* memory, const void* args, size_t stride);
} wasinn_function;
enum {
  WASINN_FUNCTION_MAY_BLOCK = 1u << 0,  /* loads and computes, or waits for them: takes as long as they do */
  WASINN_FUNCTION_LARGE_STACK = 1u << 1 /* runs frameworks on the thread that calls: WASINN_FRAMEWORK_STACK bytes */
};
/* What they expect to be left of a stack; threads usually have 8 MiB. */
enum { WASINN_FRAMEWORK_STACK = 1 << 20 };

/* The table of all functions; const, valid for the life of the OS process. An engine registers each of them under its
 * module and name. */
WASINN_API const wasinn_function* const* wasinn_functions(size_t* count);

/* One call, for engines whose threads may have less stack than that, or that end guests by a mark and then wait for their
 * threads. */
typedef struct wasinn_call {
  uint32_t struct_size;
  /* Written by wasinn_guest_call: the guest was closed before, and nothing was done. */
  bool refused;
  const wasinn_function* function;
  /* As the parameters of wasinn_function::call. */
  wasinn_guest* guest;
  const wasinn_memory* memory;
  const void* args;
  size_t stride;
  size_t stack_left; /* bytes of this thread's stack that are left; SIZE_MAX: enough */
  /* Whether the engine has ended the guest, or wants it to end. Asked while the call is inside and may block, about every
   * 10 ms, on a thread of the host's; must not block and must not call wasinn. As soon as it says so, the guest is
   * closed to new calls and what runs is cancelled; its run is not interrupted, which the engine is ending;
   * wasinn_guest_close is still to be called. NULL: nobody asks. */
  bool (*ended)(void* caller);
  void* caller;
} wasinn_call;

/* Does call->function->call, where it needs one on a thread of the host's that has a stack large enough, while this
 * thread waits: at most 16 for one guest at a time, whose further calls then wait for each other. Where the system gives
 * no thread the errno is that of runtime_error. A struct without a size, too. */
WASINN_API uint32_t wasinn_guest_call(wasinn_call* call);
/* Begins the same and returns at once, for engines that can set a guest aside while its call is under way: what may block is
 * done on a thread of the host's (call_threads), guests in turn; what may not is done here.
 *  - `done` is called exactly once, with the errno, from any thread, perhaps before this returns. It must not block and must
 *    not call wasinn. Until then `call`, what it points to, and the guest's memory stay where they are, and nobody but
 *    the host writes to that memory.
 *  - Until `done` has returned the call is inside: wasinn_guest_close waits for it. Once the guest is stopped or closed, or its run is
 *    past its deadline, a call that has not begun ends at once, on the thread that stops it, and one that runs ends soon.
 *  - `ended` is asked from when the call begins: who ends a guest before says so by wasinn_guest_stop.
 *  - The deadline of a compute runs from when it begins, and not while others are before it.
 *  - stack_left is not read: threads of the host have stack enough. Where the system gives no thread the errno is that of
 *    runtime_error. */
WASINN_API void wasinn_guest_call_begin(wasinn_call* call, void (*done)(void* user, uint32_t result), void* user);
/* For stack_left, and for engines that must not let a function of ours reach the end of a stack: how many bytes are left
 * of this thread's, of which the engine uses no more than `most`. SIZE_MAX: this is another stack than the thread's. The
 * first call of a thread asks the system, and needs some stack for that. */
WASINN_API size_t wasinn_stack_left(size_t most);

#ifdef __cplusplus
}
#endif
#endif /* WASINN_WASINN_H_ */
