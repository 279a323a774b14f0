"""usage: wasmtime_conf.py LIBRARY INCLUDE_DIR: writes wasmtime/conf.h from conf.h.in, like the build of the library.

The headers only declare the features of conf.h. The wheel does not list them, so this looks into the library: for each
feature that the headers know, it has a function only if it was built with it. Features that no header asks for stay
undefined."""

import pathlib
import re
import sys

WITNESS = {
    "PROFILING": "wasmtime_guestprofiler_new",
    "WAT": "wasmtime_wat2wasm",
    "CACHE": "wasmtime_config_cache_config_load",
    "PARALLEL_COMPILATION": "wasmtime_config_parallel_compilation_set",
    "WASI": "wasmtime_linker_define_wasi",
    "WASI_HTTP": "wasmtime_context_set_wasi_http",
    "THREADS": "wasmtime_sharedmemory_new",
    "GC": "wasmtime_anyref_clone",
    "ASYNC": "wasmtime_call_future_poll",
    "CRANELIFT": "wasmtime_module_new",
    "POOLING_ALLOCATOR": "wasmtime_pooling_allocation_config_new",
    "COMPONENT_MODEL": "wasmtime_component_new",
    "COMPONENT_MODEL_ASYNC": "wasmtime_component_func_call_async",
}

library, include = pathlib.Path(sys.argv[1]).read_bytes(), pathlib.Path(sys.argv[2])
has = {name for name, function in WITNESS.items() if b"\0" + function.encode() + b"\0" in library}


def define(match):
    name = "WASMTIME_FEATURE_" + match[1]
    return f"#define {name}" if match[1] in has else f"/* #undef {name} */"


text = (include / "conf.h.in").read_text()
(include / "conf.h").write_text(re.sub(r"#cmakedefine WASMTIME_FEATURE_(\w+)", define, text))
(include / "conf.h.in").unlink()
