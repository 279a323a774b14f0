/* wasinn/wasinn.h - the C API of wasinn, for programs that embed a Wasm engine and for engine adapters.
 *
 * A *host* holds what one OS process shares: backends (ML frameworks), models, default limits and policy. A *guest*
 * is one program in the sandbox, with its handles and quotas. An engine adapter (wasinn/wasmtime.h …) makes the
 * functions of wasi-nn callable by guests. An engine without an adapter takes them from a table (wasinn/engine.h).
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
 *  - A function that can fail returns a `wasinn_status *`. NULL means success. The caller frees any other status.
 *  - `_free` accepts NULL. A function writes its out parameters only on success.
 *  - The caller sets struct_size to sizeof the struct; 0 is an error. The library reads and fills the struct up to that
 *    size. It never changes struct_size.
 *  - The library keeps no pointer that it is given, and copies what it needs, unless a comment says otherwise.
 *  - Hosts and guests may be used from any thread at the same time. A config or a status belongs to one thread at a
 *    time.
 *  - The library keeps no global state. It never writes to stdout or stderr, and never aborts or exits.
 *  - A guest begins with wasinn_guest_new and ends with wasinn_guest_close, with every engine. An adapter only finds
 *    the guest that makes a call. Order at the end: wasinn_guest_close, then the engine's store or instance, then
 *    wasinn_guest_free, then wasinn_host_free. A freed host lives on internally until its last guest is freed.
 */
#ifndef WASINN_WASINN_H_
#define WASINN_WASINN_H_

#include <stdbool.h>
#include <wasinn/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WASINN_API __attribute__((visibility("default")))
#if defined(__GNUC__)
#define WASINN_MUST_CHECK __attribute__((warn_unused_result))
#else
#define WASINN_MUST_CHECK
#endif

/* "0.1.0": the version of the library that is loaded. */
WASINN_API const char* wasinn_version(void);

/* ---- Status ---------------------------------------------------------------------------------------------------- */

typedef struct wasinn_status wasinn_status;

/* A NULL status is WASINN_OK with an empty message. Strings live as long as the status. */
WASINN_API wasinn_code wasinn_status_code(const wasinn_status* status);
WASINN_API const char* wasinn_status_message(const wasinn_status* status);
/* The backend that reported the error, "" if none did. */
WASINN_API const char* wasinn_status_backend(const wasinn_status* status);
WASINN_API void wasinn_status_free(wasinn_status* status);
/* "invalid_argument" and so on. Never NULL. */
WASINN_API const char* wasinn_code_name(wasinn_code code);
/* For engine adapters: a new error; the message is copied. */
WASINN_API wasinn_status* wasinn_status_new(wasinn_code code, const char* message);

/* "f32", "cpu": as in the command line and in messages. Never NULL. */
WASINN_API const char* wasinn_dtype_name(wasinn_dtype dtype);
WASINN_API const char* wasinn_target_name(wasinn_target target);
/* The target that a word names; case does not matter. INVALID_ARGUMENT lists the known words. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_target_parse(const char* word, wasinn_target* out);

/* ---- Configuration --------------------------------------------------------------------------------------------- */

/* Settings of a host. docs/configuration.md lists the keys; the TOML file, this API and the command line share them.
 * A later setting replaces an earlier one. An unknown key is an error; its message names the nearest known key. */
typedef struct wasinn_config wasinn_config;

WASINN_API wasinn_config* wasinn_config_new(void);
WASINN_API void wasinn_config_free(wasinn_config* config);
/* Relative paths in a file are relative to the file's folder. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_config_load_file(wasinn_config* config, const char* path);
/* Relative paths in a text, and in a value of wasinn_config_set, are relative to the working directory at the call. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_config_load_toml(wasinn_config* config, const char* toml);
/* `key` is dotted: "limits.max_graphs". `value` is a TOML value: "8", "true", "[\"a\"]". Any other text is a string. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_config_set(wasinn_config* config, const char* key,
                                                              const char* value);

/* One step that took time. The thread that did the step reports it at its end. Struct and strings are valid during the
 * call. */
typedef struct wasinn_span {
  uint32_t struct_size;
  uint32_t code; /* wasinn_code: the outcome of a "load" or an "inference"; WASINN_OK for the steps of an inference */
  /* "load", "inference", and the steps of an inference: "queue", "compute_input", "compute_infer", "compute_output".
   * docs/metrics.md explains each. Later versions may add more. */
  const char* name;
  uint64_t start_ns, duration_ns; /* nanoseconds of CLOCK_MONOTONIC (std::chrono::steady_clock) */
  uint64_t thread;                /* the system's thread id */
  uint64_t guest;                 /* the guest's number in its host, from 1; 0: the host's own work */
  const char* guest_name;         /* the name in wasinn_guest_options; "": none */
  uint64_t inference;             /* the inference's number in its host, from 1; its steps share it; 0: no inference */
  const char* model;              /* the registered name; "guest": a guest brought the model */
  uint32_t version;               /* 0: a guest brought the model */
  const char* backend;            /* "": not known yet */
} wasinn_span;
/* Called from any thread, even concurrently. A part comes before its whole: "queue" before its "inference". Must not
 * block for long, must not call wasinn. */
typedef void (*wasinn_span_fn)(void* user, const wasinn_span* span);
/* Each host that is made from this config calls `fn` for its spans (NULL: no function), and measures times as with
 * the setting `metrics`. `fn` and `user` must stay valid until the last guest of the last such host is freed. */
WASINN_API void wasinn_config_on_span(wasinn_config* config, wasinn_span_fn fn, void* user);

/* ---- Limits and policy of a guest ------------------------------------------------------------------------------ */

/* The limits of one guest. Each comment ends with the default; the defaults are meant for untrusted guests. A limit of
 * 0 allows nothing, and a timeout of 0 is no deadline, unless the comment says otherwise. */
typedef struct wasinn_limits {
  uint32_t struct_size;
  uint32_t max_graphs;       /* graphs held at once; 64 */
  uint32_t max_contexts;     /* contexts held at once; 256 */
  uint32_t max_builders;     /* parts of one model; 16 */
  uint32_t max_name_bytes;   /* length of a model's name; 1024 */
  uint32_t max_log_messages; /* errors of this guest that go to the log; then one line says that the rest is left
                                  out. 0: not even that line; 100 */
  uint64_t max_model_bytes;  /* bytes of the models that the guest loaded from its own bytes and holds, and the
                                  memory that backends keep for them; 1 GiB */
  uint64_t max_tensor_bytes; /* bytes of the inputs and outputs that it holds, with the memory that backends keep for
                                  its contexts (caches, arenas). Also the limit of what one compute allocates; 1 GiB */
  uint32_t load_timeout_ms;  /* for one load of a guest's own bytes, of a model at an address, or of a registered model
                                  in a worker: a worker that does not stop in time is ended. The host's default limit
                                  holds for all loads of such a registered model, and the guest's own if that is
                                  shorter; 60,000 */
  uint32_t
      compute_timeout_ms;    /* for one compute or step. A text that takes longer is cut: WASINN_ERROR_CONTEXT_FULL, and
                                  its beginning may be read; 30,000 */
  uint32_t max_tensors;      /* tensors that a component holds at once; 16,384 */
  uint32_t max_errors;       /* error objects that a component holds at once; 1,024 */
  uint32_t run_timeout_ms;   /* for the whole run of its program, see wasinn_guest_begin_run; 0 */
  uint64_t max_memory_bytes; /* bytes of all its linear memories, enforced by the program that runs the guest; also the
                                  most that one call of a component carries; UINT64_MAX: the engine's own limit */
} wasinn_limits;

enum { WASINN_TARGET_ALL = 0x7fffffff };

/* The numbers that a guest uses. For model formats wasi-nn.witx, WasmEdge and WAMR agree on 0 to 4 and differ from 5
 * on. Before the Rust crate wasi-nn 0.4, types had other numbers: 2 was u8 and 3 i32. */
typedef enum wasinn_dialect {
  WASINN_DIALECT_DEFAULT = 0,  /* "witx": wasi-nn.witx, where 5 is autodetect; with 6 the bytes decide, too */
  WASINN_DIALECT_WASMEDGE = 1, /* "wasmedge": 5 autodetect, 6 ggml */
  WASINN_DIALECT_WAMR = 2,     /* "wamr": 5 ggml, 6 autodetect */
  WASINN_DIALECT_WITX_0_1 = 3  /* "witx-0.1": as DEFAULT, with types and errors of the Rust crate wasi-nn 0.1 to 0.3 */
} wasinn_dialect;

/* Where a model runs that a guest brings as bytes. */
typedef enum wasinn_load {
  WASINN_LOAD_DENY = 0, /* "deny": nowhere; the guest may only load models by name */
  /* "isolated": in a worker. A worker is a separate OS process for one guest (or tenant) and one framework. A model
   * that crashes its framework only ends this worker: calls of the guest return WASINN_ERROR_LOST, and no other guest
   * notices. */
  WASINN_LOAD_ISOLATED = 1,
  /* "in-process": in this OS process. For trusted models only: a framework's parser does not confine a model. */
  WASINN_LOAD_IN_PROCESS = 2
} wasinn_load;

/* What a guest is allowed to do. A value at the end of a comment is the default. A number that this version does not
 * know is an error (INVALID_ARGUMENT, which names the field). A list that is not NULL and has no entry allows nothing.
 * A list that is NULL has no count. */
typedef struct wasinn_policy {
  uint32_t struct_size;
  uint32_t load;             /* wasinn_load: where models from the guest's own bytes run; ISOLATED */
  bool cpu_fallback;         /* gpu and tpu mean the CPU if the device is missing; the log says so once; false */
  uint32_t targets;          /* the targets that load accepts, 1u << wasinn_target for each; WASINN_TARGET_ALL */
  const char* const* models; /* names that load_by_name may use; NULL: every registered one */
  size_t n_models;
  uint32_t dialect;             /* wasinn_dialect; DEFAULT */
  const char* const* encodings; /* names of the formats that load accepts; NULL: every one */
  size_t n_encodings;
  /* Guests of one host with the same tenant trust each other and share workers (WASINN_LOAD_ISOLATED). That takes fewer
   * OS processes. The byte limits of a worker's first guest then hold for all its guests together, and a model that
   * crashes its framework takes the other guests' models with it. NULL or "": the guest shares with no other. */
  const char* tenant;
  /* The guest's share when computes must wait for a place (max_computes, or the model's own limit). A guest of weight 3
   * gets three turns for each turn of a guest of weight 1. From 1 to 1,000; 0 means 1. A compute that finds a free
   * place never waits. Whatever its weight, neither a guest nor the guests of a tenant together have the last quarter
   * of the places, or the last one of several (max_guest_computes): it is for others. */
  uint32_t weight;
  /* Origins to which the guest's program may send HTTP requests: "https://example.com", "http://10.0.0.5:8080". "*."
   * before a host name allows all names below it. NULL: none. The program that runs the guest enforces it; the library
   * sends no requests. */
  const char* const* allowed_outbound_hosts;
  size_t n_allowed_outbound_hosts;
  /* Models in workers, of target gpu or auto, may use this machine's GPUs. The sandbox of such a worker is weaker: it
   * may talk to the GPU's driver, which is a large part of the kernel, and the GPU's memory has no limit
   * (docs/isolation.md). Models of target cpu keep the strong sandbox. false: they can only use the CPU. */
  bool isolated_gpu;
} wasinn_policy;

/* ---- Engine: how guests' programs run --------------------------------------------------------------------------- */

/* The limits of one guest's program. The library has no engine and only carries them, from the section [limits] of the
 * settings: the program that runs the guest enforces them, as `wasinn run` does. Each comment ends with the default. */
typedef struct wasinn_engine_limits {
  uint32_t struct_size;
  uint32_t max_threads;        /* threads in addition to the guest's first; 64 */
  uint64_t max_table_elements; /* elements of each of its tables; UINT64_MAX: only the engine's own limit */
  uint64_t max_fuel;           /* work, in the engine's units; 0: not measured */
} wasinn_engine_limits;

/* Settings for a program that runs guests, like the command. The library only carries them, too. */
typedef struct wasinn_engine_options {
  uint32_t struct_size;
  bool allow_precompiled;     /* run files of native code, which no sandbox confines; false */
  uint32_t pool_instances;    /* guest memories that the engine keeps ready and reuses; 0: no pool */
  uint64_t pool_memory_bytes; /* the most that one of these may grow to; that much address space is taken; 0: 4 GiB */
  /* Limits for compiling one program, in a process of its own. If both are 0, the host's own process compiles. */
  uint64_t max_compile_bytes;  /* of memory; 2 GiB; 0: no limit */
  uint32_t compile_timeout_ms; /* 120,000; 0: none */
} wasinn_engine_options;

/* ---- Host ------------------------------------------------------------------------------------------------------- */

typedef struct wasinn_host wasinn_host;

/* One line of the log. The struct and its strings are valid during the call. */
typedef struct wasinn_log_record {
  uint32_t struct_size;
  uint32_t level; /* wasinn_log_level */
  uint32_t code;  /* wasinn_code of the error that the line reports; WASINN_OK: no error, or one without a code */
  uint64_t guest; /* the guest's number in its host, from 1; 0: the host's own line */
  const char* guest_name; /* the name in wasinn_guest_options; "": none */
  const char* message;    /* without control characters; begins with "guest 'NAME': " or "guest: " if it is about one */
} wasinn_log_record;
/* Called from any thread, even concurrently. Must not call wasinn. */
typedef void (*wasinn_log_fn)(void* user, const wasinn_log_record* record);

/* `config` (NULL: defaults) is read now and not kept. `log` (NULL: none) and `user` must stay valid until the last
 * guest of the host is freed. This opens no framework. A framework is opened when a model first needs it. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_host_new(const wasinn_config* config, wasinn_log_fn log, void* user,
                                                            wasinn_host** out);
WASINN_API void wasinn_host_free(wasinn_host* host);
/* Ends the loads in workers that no guest waits for, of wasinn_host_inspect and of models with `preload`: they fail
 * with WASINN_ERROR_TIMEOUT, and so do all later ones. A guest's loads end with wasinn_guest_stop. Does not wait. May
 * be called from any thread. */
WASINN_API void wasinn_host_stop_loads(wasinn_host* host);

/* The host's default limits for its guests. Set out->struct_size before the call; it fails only if that is 0. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_host_limits(const wasinn_host* host, wasinn_limits* out);
/* The host's default policy. Its strings and lists are valid as long as the host. Set out->struct_size, as above. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_host_policy(const wasinn_host* host, wasinn_policy* out);
/* The section [engine] of the host's settings. Set out->struct_size, as above. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_host_engine_options(const wasinn_host* host,
                                                                       wasinn_engine_options* out);
/* The limits of its guests' programs. Set out->struct_size, as above. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_host_engine_limits(const wasinn_host* host,
                                                                      wasinn_engine_limits* out);

typedef struct wasinn_bytes {
  const uint8_t* data;
  size_t size;
} wasinn_bytes;

/* Batching: the host computes inferences of separate guests on one model together. The fields have Triton's names;
 * docs/batching.md. A row is one index of the first dimension, which all inputs and outputs share. The model must
 * compute each row by itself: a batch must not change a row's result. */
typedef struct wasinn_batching {
  uint32_t struct_size;
  uint32_t max_batch_size; /* rows of one batch, 1 to 4,096 */
  /* A batch with one of these row counts starts without waiting for more; each from 1 to max_batch_size. */
  const uint32_t* preferred_batch_size;
  size_t n_preferred_batch_size;
  uint32_t max_queue_delay_microseconds; /* how long an inference waits for others; 0: only for a free instance */
  /* Batches that compute at once, 256 at most; 0: as many as fit the processors, given the threads of each. */
  uint32_t instance_count;
} wasinn_batching;
/* One tensor of a pipeline, with its two names: the one in the step's model and the one in the pipeline. */
typedef struct wasinn_tensor_name {
  const char* model;
  const char* pipeline;
} wasinn_tensor_name;

/* One model of a pipeline. The fields have the names of Triton's ensembles; docs/pipelines.md. */
typedef struct wasinn_step {
  uint32_t struct_size;
  const char* model_name;              /* must be registered when the pipeline is loaded; "NAME:2" is a version */
  const wasinn_tensor_name* input_map; /* empty: the pipeline uses the model's names */
  size_t n_input_map;
  const wasinn_tensor_name* output_map; /* empty: all outputs, under the model's names */
  size_t n_output_map;
} wasinn_step;

/* A model that guests load by name: a file, a folder, bytes, or a pipeline. All of it is copied. */
typedef struct wasinn_model_options {
  uint32_t struct_size;
  const char* path; /* a file, a folder in Triton's or Wasmtime's layout, or a server's address; NULL: not given */
  const wasinn_bytes* builders; /* the model's bytes: wasi-nn's graph builders, most often one */
  size_t n_builders;
  const char* encoding; /* the format's name; NULL or "autodetect": recognised by the file's name or bytes */
  uint32_t target;      /* wasinn_target */
  uint32_t version;     /* guests ask for "NAME:2"; 0: the folder's versions, or 1 */
  const char* config;   /* JSON object for the backend, as [models.NAME.config]; NULL: {} */
  bool immutable;       /* the file never changes: map it, do not copy it (truncating a mapped file kills the reader) */
  bool preload;         /* compile now and report errors now, not at a guest's first load */
  const char* backend;  /* the backend's name, if it is not the usual one for the encoding; NULL: the usual one */
  /* Run the model in a worker of its own, for a file that is not fully trusted (see WASINN_LOAD_ISOLATED). False: the
   * host's setting isolate_models decides. */
  bool isolate;
  /* Computes on zeros at the end of a load, before any guest gets the model; 1,000 at most. Shapes are the signature's,
   * with 1 for each open dimension; docs/configuration.md. If one fails, the load fails. */
  uint32_t warm_up;
  const wasinn_batching* batching; /* NULL: no batching */
  /* The steps of a pipeline, instead of `path` and `builders` and the fields that describe these. One compute of the
   * pipeline computes the steps in this order. Tensors stay in place between steps. NULL: no pipeline. */
  const wasinn_step* const* steps;
  size_t n_steps;
  const char* const* inputs; /* the pipeline's inputs, in order; NULL: the tensors that no step produces */
  size_t n_inputs;
  const char* const* outputs; /* the pipeline's outputs, in order; NULL: the tensors that no step takes */
  size_t n_outputs;
} wasinn_model_options;

/* Registers a model. The file is read and compiled once: at the first load by a guest, or now with `preload`. All
 * guests that load it share it. A model of the same name and version is replaced: guests keep the graphs that they
 * have, and later loads get the new model. If a `preload` fails, nothing changes. A name is not empty and has no colon,
 * which stands before a version ("NAME:2"): INVALID_ARGUMENT. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_host_add_model(wasinn_host* host, const char* name,
                                                                  const wasinn_model_options* options);
/* Registers every model of a folder. Each subfolder is a model: NAME/model.onnx, NAME/1/model.onnx. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_host_add_models(wasinn_host* host, const char* folder);
/* Removes all versions of a model, or one version: "NAME:2". Guests that hold it keep it. Its memory is freed with the
 * last of them. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_host_remove_model(wasinn_host* host, const char* name);
/* Unloads a model, or one version, "NAME:2". It stays registered: the next load reads and compiles its files again, as
 * they are then. Guests that hold the old one keep it. Its memory is freed with the last of them. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_host_unload_model(wasinn_host* host, const char* name);
/* Compiles a model's files again, as they are now: for "NAME" those of every version, for "NAME:2" those of one. It
 * finds new models and versions in the folders of wasinn_host_add_models. Until it is done, and if it fails, loads get
 * the old model; both are in memory until then. Guests that hold the old one keep it. Any thread. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_host_reload_model(wasinn_host* host, const char* name);

typedef enum wasinn_model_change_kind {
  WASINN_MODEL_CHANGE_ADDED = 0,    /* a new model, a new version, or other files of one */
  WASINN_MODEL_CHANGE_RELOADED = 1, /* one whose files have changed, or are there again */
  WASINN_MODEL_CHANGE_REMOVED = 2,  /* its folder is gone */
  WASINN_MODEL_CHANGE_FAILED = 3    /* new files do not load, or none can be read: the old model stays */
} wasinn_model_change_kind;
typedef struct wasinn_model_change {
  uint32_t struct_size;
  const char* name;
  uint32_t version;
  uint32_t kind;       /* wasinn_model_change_kind */
  const char* message; /* why it failed; else "" */
} wasinn_model_change;
typedef void (*wasinn_model_change_fn)(void* user, const wasinn_model_change* change);
/* Looks again at the folders of wasinn_host_add_models and at all models' files, and calls `fn`, which may be NULL, for
 * each change; the struct is valid during the call, and `fn` must not call wasinn. New models and versions are
 * registered, and those without folders are removed, except for models of wasinn_host_add_model. A loaded model whose
 * files have changed is compiled again, and so is a new version of a loaded model before it is registered: until that
 * is done, and if it fails, loads get the old model. Files that failed are tried again after a change. Any thread. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_host_rescan_models(wasinn_host* host, wasinn_model_change_fn fn,
                                                                      void* user);

/* Checks whether `word` may be a model's `encoding`. INVALID_ARGUMENT lists the known words: the formats that wasi-nn
 * has numbers for and those of the host's backends. Opens no framework. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_host_check_encoding(wasinn_host* host, const char* word);

typedef struct wasinn_model_info {
  uint32_t struct_size;
  const char* name;
  uint32_t version;
  /* "" if only the bytes show it and they were not read yet; "pipeline" for a pipeline. */
  const char* encoding;
  uint32_t target;   /* wasinn_target */
  const char* path;  /* "" if it came as bytes */
  bool loaded;       /* compiled and ready */
  uint64_t compiles; /* how often it was compiled: 0 or 1, more only after failures */
  /* As in wasinn_backend_report; "" until the model is loaded. */
  const char* backend;
  const char* framework;
  const char* library;
  /* The models of a pipeline's steps, in order; n_steps 0: no pipeline. */
  const char* const* steps;
  size_t n_steps;
  uint32_t max_batch_size; /* rows of one batch (wasinn_batching); 0: no batches */
} wasinn_model_info;
/* The struct and its strings are valid during the call. */
typedef void (*wasinn_model_fn)(void* user, const wasinn_model_info* model);
/* Calls `fn` for each registered model, sorted by name and version. `fn` must not call wasinn. */
WASINN_API void wasinn_host_models(wasinn_host* host, wasinn_model_fn fn, void* user);

typedef void (*wasinn_io_fn)(void* user, bool is_output, uint32_t index, const wasinn_io* io);
/* Loads a registered model if it is not loaded yet. Calls `fn` for each input, then for each output; `io` is valid
 * during the call. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_host_inspect(wasinn_host* host, const char* name, wasinn_io_fn fn,
                                                                void* user);

typedef struct wasinn_backend_report {
  uint32_t struct_size;
  const char* name;      /* "onnx" */
  const char* encodings; /* the formats that it loads, comma-separated: "onnx" */
  bool available;
  const char* framework;  /* "ONNX Runtime 1.31.1"; "" if not available */
  const char* devices;    /* "cpu"; "" if not available */
  const char* library;    /* the framework's file; "" if not available */
  const char* missing;    /* what is missing, "" if available */
  const char* install;    /* the command that installs it; "" if available, or if no command would help */
  const wasinn_key* keys; /* the configuration keys that it knows; valid for the life of the OS process */
  size_t n_keys;
  const char* looked_for; /* the files that were looked for; "" if available, or if the backend does not list them */
} wasinn_backend_report;
typedef void (*wasinn_backend_fn)(void* user, const wasinn_backend_report* backend);
/* Opens each backend whose framework is there, and calls `fn` for every known one. The struct is valid during the call.
 * `fn` must not call wasinn. */
WASINN_API void wasinn_host_backends(wasinn_host* host, wasinn_backend_fn fn, void* user);

typedef void (*wasinn_text_fn)(void* user, const char* text, size_t size);
/* Calls `fn` once with the host's metrics, in Prometheus' text format 0.0.4. docs/metrics.md lists them. `text` ends in
 * a NUL, has none inside, and is valid during the call. `fn` must not call wasinn.
 *  - May be called from any thread, at any time. It holds up calls of guests for a few counter reads at most. Each
 *    number was true at some moment of the call. No counter goes back while its model is registered or in use.
 *  - Times of computes and of their steps need the setting `metrics = true`, or a function for spans. Without them no
 *    clock is read.
 *  - Names, types, units and labels of metrics are as stable as functions of this header. Later versions may add
 *    metrics and labels. Help texts and histogram bounds may change at any time. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_host_metrics(wasinn_host* host, wasinn_text_fn fn, void* user);

/* ---- Guest ------------------------------------------------------------------------------------------------------ */

/* One guest program. All its instances and threads share its handles. */
typedef struct wasinn_guest wasinn_guest;

/* The options of a guest, which are copied. Without them, each field has its default. */
typedef struct wasinn_guest_options {
  uint32_t struct_size;
  const char* name;            /* for the log; NULL: none */
  const wasinn_limits* limits; /* NULL: the host's. The host's also hold for limits beyond its struct_size */
  const wasinn_policy* policy; /* NULL: the host's */
  /* The program's standard output: it gets each piece of a text as it comes, if the guest asks for that (WasmEdge's
   * key stream-stdout, on models of the host's own process); NULL: the key has no effect. Called on the thread of the
   * compute; after compute_begin on a thread of the host, while the guest goes on, perhaps on several at once. Must not
   * call wasinn. It and `print_user` stay valid until the guest is closed. */
  void (*print)(void* user, const char* text, size_t size);
  void* print_user;
  /* Another open guest of the host, for whom this one runs; NULL: none. The two share weight, turns and places for
   * computes, and waits after calls that ended workers, so that a guest for each request gives no client more of them.
   * They share nothing else. The other guest may be closed first. */
  wasinn_guest* on_behalf_of;
} wasinn_guest_options;

WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_guest_new(wasinn_host* host, const wasinn_guest_options* options,
                                                             wasinn_guest** out);
/* Ends a guest. Refuses new calls, cancels running ones, and waits until no call is inside. Only then may the guest's
 * memory go. Frees its graphs and contexts. May be called more than once, but not from inside a call of the guest. */
WASINN_API void wasinn_guest_close(wasinn_guest* guest);
/* Refuses new calls, cancels running ones, and interrupts the guest's run if it has begun one. Does not wait. May be
 * called from any thread, even from inside a call of the guest. wasinn_guest_close must still be called. */
WASINN_API void wasinn_guest_stop(wasinn_guest* guest);
/* Closes the guest if need be, and frees it. If references are left (below), the last release frees `guest`. */
WASINN_API void wasinn_guest_free(wasinn_guest* guest);

/* References, for adapters. A store or an instance may still make a call after its guest was freed: for instance, a
 * thread of the guest slept in the system when the guest ended. A reference keeps `guest` valid for that, but nothing
 * of the host. Take it before wasinn_guest_free, and release it once, from any thread. After wasinn_guest_free, calls
 * return runtime_error, and wasinn_guest_statistics still works. retain returns the guest. Both accept NULL. */
WASINN_API wasinn_guest* wasinn_guest_retain(wasinn_guest* guest);
WASINN_API void wasinn_guest_release(wasinn_guest* guest);

/* Begins the run of a guest's program. The run may last for run_timeout_ms of the guest's limits, endless loops
 * included. A guest has one run at a time, for all its threads together. The host ends the run when the deadline
 * passes, or when the guest is stopped or closed. It refuses new calls, cancels running ones, and calls `interrupt`,
 * which must ask the engine to end the program.
 *  - `interrupt` is called about every 10 ms, until wasinn_guest_end_run or wasinn_guest_close has returned. It is
 *    never called after that, and never by two threads at once.
 *  - It is called on the host's thread that watches the deadlines of all guests, or on the thread that stops or closes
 *    the guest. It must not block and must not call wasinn.
 * RUNTIME_ERROR: the guest is closed or has a run already, or the system gives no thread for the deadline. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_guest_begin_run(wasinn_guest* guest, void (*interrupt)(void* user),
                                                                   void* user);
/* Ends the run. Waits for a call of `interrupt` that is under way. True: the deadline had passed. False: it had not, or
 * there was no run. May be called from any thread. */
WASINN_API bool wasinn_guest_end_run(wasinn_guest* guest);

/* Counts of what a guest holds now, and of what it has done so far. */
typedef struct wasinn_statistics {
  uint32_t struct_size;
  uint32_t graphs, contexts;          /* held now */
  uint64_t model_bytes, tensor_bytes; /* held now, as the limits count them */
  uint64_t copies_in, copies_out;     /* copies of tensor bytes that wasinn made so far */
  uint64_t bytes_in, bytes_out;       /* bytes of those copies */
  uint64_t model_bytes_copied;        /* bytes of models copied out of guest memory */
  uint64_t computes, errors;          /* calls to compute; calls of any function that ended in an error */
  uint32_t tensors, error_objects;    /* of a component, held now */
  uint32_t inside;                    /* 1: a call of the guest is inside now; 0: none */
} wasinn_statistics;
/* Set out->struct_size before the call; it fails only if that is 0. */
WASINN_API WASINN_MUST_CHECK wasinn_status* wasinn_guest_statistics(const wasinn_guest* guest, wasinn_statistics* out);

#ifdef __cplusplus
}
#endif
#endif /* WASINN_WASINN_H_ */
