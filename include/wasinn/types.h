/* wasinn/types.h - types that wasinn.h (for embedders) and backend.h (for backends) share.
 *
 * Conventions of all public C headers:
 *  - Every struct that may grow starts with `struct_size`. Its owner sets it to sizeof; 0 is an error. New versions
 *    only append fields, and never use former padding. A reader takes an absent field as zero. A function that fills
 *    its caller's struct writes the fields that both know. It never writes struct_size.
 *  - Numbers are stable: a value never changes its meaning between releases.
 *  - Strings are UTF-8 and end in a NUL. A `const char *` in a struct is borrowed for the call, unless a comment says
 *    otherwise.
 *  - The numbers here are wasinn's own. The dialects of wasi-nn disagree about theirs, so a table for each dialect
 *    translates a guest's numbers (src/abi/profiles.h).
 */
#ifndef WASINN_TYPES_H_
#define WASINN_TYPES_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers. wasinn_version() returns the version of the loaded library. Before 1.0, a new minor
 * version may change the ABI, and has a new soname. */
#define WASINN_VERSION_MAJOR 0
#define WASINN_VERSION_MINOR 1
#define WASINN_VERSION_PATCH 0
#define WASINN_VERSION "0.1.0"

/* The outcome of a call. Each comment begins with the guest's errno of wasi-nn.witx, then its error-code of WIT. */
typedef enum wasinn_code {
  WASINN_OK = 0,
  WASINN_ERROR_INVALID_ARGUMENT =
      1, /* 1, invalid-argument: pointer, length, handle, index, dtype, shape, unset input */
  WASINN_ERROR_INVALID_ENCODING = 2, /* 2, invalid-encoding: unknown encoding, or bytes of another one */
  WASINN_ERROR_MISSING_MEMORY = 3,   /* 3: the module exports no memory */
  WASINN_ERROR_BUSY = 4,             /* 4, runtime-error: another thread uses the context */
  WASINN_ERROR_RUNTIME = 5,          /* 5, runtime-error: failure inside the framework */
  WASINN_ERROR_UNSUPPORTED_OPERATION =
      6,                      /* 6, unsupported-operation: backend, target, type or function not available */
  WASINN_ERROR_TOO_LARGE = 7, /* 7, too-large: a quota, or an output buffer that is too small */
  WASINN_ERROR_NOT_FOUND = 8, /* 8, not-found: unknown model name */
  WASINN_ERROR_TIMEOUT = 9,   /* 5, timeout: a deadline passed, or the guest was closed */
  WASINN_ERROR_SECURITY = 10, /* 6, security: refused by the host's policy */
  /* For models that generate text. The errnos are WasmEdge's. */
  WASINN_ERROR_END_OF_SEQUENCE = 11, /* 100: the sequence is complete. Not a failure; components get it as `none` */
  WASINN_ERROR_CONTEXT_FULL = 12,    /* 101, too-large: the text was cut, because the context is full or a
                                  deadline has passed. The output so far may be read */
  WASINN_ERROR_PROMPT_TOO_LONG = 13, /* 102, too-large */
  WASINN_ERROR_MODEL_NOT_FOUND = 14, /* 103, not-found: the name is registered, but its file is missing */
  /* For models that run outside of this OS process. */
  WASINN_ERROR_UNAVAILABLE =
      15,                /* 5, runtime-error: a server, worker or device is not there now; trying again may help */
  WASINN_ERROR_LOST = 16 /* 5, runtime-error: the worker ended, and its models are lost; load the model again */
} wasinn_code;

/* Element types. Tensors are dense, row-major, little-endian. */
typedef enum wasinn_dtype {
  WASINN_DTYPE_UNKNOWN = 0, /* in a signature: the framework does not say, or this is not a tensor of numbers */
  WASINN_DTYPE_F16 = 1,
  WASINN_DTYPE_BF16 = 2,
  WASINN_DTYPE_F32 = 3,
  WASINN_DTYPE_F64 = 4,
  WASINN_DTYPE_U8 = 5,
  WASINN_DTYPE_I8 = 6,
  WASINN_DTYPE_U16 = 7,
  WASINN_DTYPE_I16 = 8,
  WASINN_DTYPE_U32 = 9,
  WASINN_DTYPE_I32 = 10,
  WASINN_DTYPE_U64 = 11,
  WASINN_DTYPE_I64 = 12,
  WASINN_DTYPE_BOOL = 13 /* one byte, 0 or 1 */
} wasinn_dtype;

/* Model formats ("graph encodings" in wasi-nn) are names of lower-case letters, digits, '-', '_' and '.'. wasi-nn has
 * numbers for "openvino" (two builders: XML, weights), "onnx", "tensorflow", "pytorch", "tensorflowlite" and "ggml". A
 * backend may serve others (wasinn_format in backend.h). In settings and in calls of guests, case does not matter,
 * "tflite" and "gguf" work too, and "autodetect" recognises the model's file name and bytes.
 */

/* Where a model runs ("execution target" in wasi-nn). */
typedef enum wasinn_target {
  WASINN_TARGET_CPU = 0,
  WASINN_TARGET_GPU = 1,
  WASINN_TARGET_TPU = 2,
  WASINN_TARGET_AUTO = 3
} wasinn_target;

typedef enum wasinn_log_level {
  WASINN_LOG_ERROR = 0,
  WASINN_LOG_WARNING = 1,
  WASINN_LOG_INFO = 2,
  WASINN_LOG_DEBUG = 3
} wasinn_log_level;

enum {
  WASINN_IO_OPTIONAL = 1u << 0,   /* input: may stay unset */
  WASINN_IO_OPAQUE = 1u << 1,     /* input: u8 of any length; its dims are not checked (prompts, JSON options) */
  WASINN_IO_UNSERVABLE = 1u << 2, /* a sequence, map …: the model loads, but using this one is an error */
  WASINN_IO_ALWAYS = 1u << 3,     /* output: may be read even before a compute (metadata of a language model) */
  WASINN_IO_ANY_NAME = 1u << 4,   /* the model's only input: guests may use any name for it */
  WASINN_IO_BINDABLE = 1u << 5,   /* output of a known shape: the backend can write it to the host's memory */
  /* a tensor of strings, as u8 with one dimension more. Each row there is a string: its length in four bytes,
   * little-endian, its bytes, and any bytes up to the end */
  WASINN_IO_STRINGS = 1u << 6,
  WASINN_IO_ROW = 1u << 7 /* input of two dimensions: [n] is taken as [1, n] */
};

/* The host's memory for a tensor begins at a multiple of ALIGNMENT, and TAIL readable bytes follow its end. Kernels
 * work on whole cache lines, and some read one vector past the end. */
#define WASINN_TENSOR_ALIGNMENT 64
#define WASINN_TENSOR_TAIL 64

/* The largest rank that wasinn handles. A model or tensor with more dimensions is refused. */
#define WASINN_MAX_RANK 32

/* One input or output in a model's signature. */
typedef struct wasinn_io {
  uint32_t struct_size;
  uint32_t dtype;      /* wasinn_dtype; UNKNOWN matches any */
  uint32_t flags;      /* WASINN_IO_* */
  int32_t rank;        /* -1: unknown, matches any shape */
  const int64_t* dims; /* rank values; -1: unknown, matches any size */
  const char* name;
  const char* type_name; /* the framework's own word for the type, for messages: "tensor(string)"; may be NULL */
} wasinn_io;

/* One configuration key of a backend. The backend gets its configuration as the text of one JSON object. wasinn refuses
 * unknown keys before, and a guest's keys without WASINN_KEY_GUEST. */
enum {
  WASINN_KEY_BACKEND = 1u << 0, /* in [backends.NAME]: passed to open */
  WASINN_KEY_MODEL = 1u << 1,   /* in [models.NAME.config]: passed to load as host_config */
  WASINN_KEY_GUEST = 1u << 2,   /* a guest may set it: passed to load as guest_config */
  /* Together with GUEST: the key changes how contexts work, not how the model is compiled. For a named model it goes to
   * slot_new, and the guest shares the compiled model with all others. */
  WASINN_KEY_CONTEXT = 1u << 3
};
/* A key with this name stands for every key that the table does not list: the backend checks those itself. */
#define WASINN_KEY_ANY "*"
typedef struct wasinn_key {
  const char* name;
  uint32_t where; /* WASINN_KEY_* */
  const char* description;
} wasinn_key;

#ifdef __cplusplus
}
#endif
#endif /* WASINN_TYPES_H_ */
