"""The parts of wasinn/wasinn.h and wasinn/wit.h that this package uses, for ctypes. Fields have the names and the order
of the headers."""

import ctypes
from ctypes import CFUNCTYPE, POINTER, c_bool, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

from ._paths import PREFIX

TextFunction = CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)


class Sized(ctypes.Structure):
    """A struct that can grow: its first field is its size."""

    def __init__(self, **fields):
        super().__init__(ctypes.sizeof(type(self)), **fields)


class LogRecord(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("level", c_uint32),
        ("code", c_uint32),
        ("guest", c_uint64),
        ("guest_name", c_char_p),
        ("message", c_char_p),
    ]


LogFunction = CFUNCTYPE(None, c_void_p, POINTER(LogRecord))


class Bytes(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


class ModelOptions(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("path", c_char_p),
        ("builders", POINTER(Bytes)),
        ("n_builders", c_size_t),
        ("encoding", c_char_p),
        ("target", c_uint32),
        ("version", c_uint32),
        ("config", c_char_p),
        ("immutable", c_bool),
        ("preload", c_bool),
        ("backend", c_char_p),
        ("isolate", c_bool),
        ("warm_up", c_uint32),
    ]


class ModelInfo(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("name", c_char_p),
        ("version", c_uint32),
        ("encoding", c_char_p),
        ("target", c_uint32),
        ("path", c_char_p),
        ("loaded", c_bool),
        ("compiles", c_uint64),
        ("backend", c_char_p),
        ("framework", c_char_p),
        ("library", c_char_p),
        ("steps", POINTER(c_char_p)),
        ("n_steps", c_size_t),
    ]


class Io(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("dtype", c_uint32),
        ("flags", c_uint32),
        ("rank", c_int32),
        ("dims", POINTER(c_int64)),
        ("name", c_char_p),
        ("type_name", c_char_p),
    ]


class BackendReport(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("name", c_char_p),
        ("encodings", c_char_p),
        ("available", c_bool),
        ("framework", c_char_p),
        ("devices", c_char_p),
        ("library", c_char_p),
        ("missing", c_char_p),
        ("install", c_char_p),
        ("keys", c_void_p),
        ("n_keys", c_size_t),
        ("looked_for", c_char_p),
    ]


class Limits(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("max_graphs", c_uint32),
        ("max_contexts", c_uint32),
        ("max_builders", c_uint32),
        ("max_name_bytes", c_uint32),
        ("max_log_messages", c_uint32),
        ("max_model_bytes", c_uint64),
        ("max_tensor_bytes", c_uint64),
        ("load_timeout_ms", c_uint32),
        ("compute_timeout_ms", c_uint32),
        ("max_tensors", c_uint32),
        ("max_errors", c_uint32),
    ]


class Policy(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("load", c_uint32),
        ("cpu_fallback", c_bool),
        ("targets", c_uint32),
        ("models", POINTER(c_char_p)),
        ("n_models", c_size_t),
        ("dialect", c_uint32),
        ("encodings", POINTER(c_char_p)),
        ("n_encodings", c_size_t),
        ("tenant", c_char_p),
        ("weight", c_uint32),
        ("allowed_outbound_hosts", POINTER(c_char_p)),
        ("n_allowed_outbound_hosts", c_size_t),
        ("isolated_gpu", c_bool),
    ]


class GuestOptions(Sized):
    _fields_ = [("struct_size", c_uint32), ("name", c_char_p), ("limits", POINTER(Limits)), ("policy", POINTER(Policy))]


class Statistics(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("graphs", c_uint32),
        ("contexts", c_uint32),
        ("model_bytes", c_uint64),
        ("tensor_bytes", c_uint64),
        ("copies_in", c_uint64),
        ("copies_out", c_uint64),
        ("bytes_in", c_uint64),
        ("bytes_out", c_uint64),
        ("model_bytes_copied", c_uint64),
        ("computes", c_uint64),
        ("errors", c_uint64),
        ("tensors", c_uint32),
        ("error_objects", c_uint32),
    ]


class WitResult(ctypes.Structure):
    _fields_ = [("is_error", c_uint32), ("rep", c_uint32)]


class WitView(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("count", c_size_t), ("owner", c_void_p), ("release", CFUNCTYPE(None, c_void_p))]


class NamedTensor(ctypes.Structure):
    _fields_ = [("name_address", c_void_p), ("name_size", c_size_t), ("tensor", c_uint32)]


ModelFunction = CFUNCTYPE(None, c_void_p, POINTER(ModelInfo))
IoFunction = CFUNCTYPE(None, c_void_p, c_bool, c_uint32, POINTER(Io))
BackendFunction = CFUNCTYPE(None, c_void_p, POINTER(BackendReport))

_RESULT, _VIEW, _REP = POINTER(WitResult), POINTER(WitView), POINTER(c_uint32)


def _wit(*arguments):
    """A function of wasinn_wit_functions: it takes a guest, and returns a status."""
    return CFUNCTYPE(c_void_p, c_void_p, *arguments)


class WitFunctions(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("tensor_new", _wit(POINTER(c_uint32), c_size_t, c_uint32, c_void_p, c_size_t, _REP)),
        ("tensor_dimensions", _wit(c_uint32, _VIEW)),
        ("tensor_type", _wit(c_uint32, _REP)),
        ("tensor_data", _wit(c_uint32, _VIEW)),
        ("tensor_drop", _wit(c_uint32)),
        ("graph_load", _wit(POINTER(Bytes), c_size_t, c_uint32, c_uint32, _RESULT)),
        ("graph_load_by_name", _wit(c_char_p, c_size_t, _RESULT)),
        ("graph_init_execution_context", _wit(c_uint32, _RESULT)),
        ("graph_drop", _wit(c_uint32)),
        ("context_compute", _wit(c_uint32, POINTER(NamedTensor), c_size_t, _RESULT, _VIEW)),
        ("context_set_input", _wit(c_uint32, POINTER(NamedTensor), _RESULT)),
        ("context_compute_set", _wit(c_uint32, _RESULT)),
        ("context_get_output", _wit(c_uint32, c_char_p, c_size_t, _RESULT)),
        ("context_drop", _wit(c_uint32)),
        ("error_new", _wit(c_uint32, c_char_p, c_size_t, _REP)),
        ("error_code", _wit(c_uint32, _REP)),
        ("error_data", _wit(c_uint32, _VIEW)),
        ("error_drop", _wit(c_uint32)),
        ("last_error", _wit(_VIEW)),
        ("describe", _wit(c_uint32, _VIEW)),
        ("context_start", _wit(c_uint32, POINTER(NamedTensor), c_size_t, _RESULT)),
        ("context_next", _wit(c_uint32, _RESULT, _REP, _VIEW)),
        ("context_finish", _wit(c_uint32, _RESULT)),
        ("graph_load_by_name_with_config", _wit(c_char_p, c_size_t, c_char_p, c_size_t, _RESULT)),
        ("context_select_outputs", _wit(c_uint32, POINTER(Bytes), c_size_t, _RESULT)),
        ("graph_load_as", _wit(POINTER(Bytes), c_size_t, c_char_p, c_size_t, c_uint32, _RESULT)),
    ]


_FUNCTIONS = {
    # name: (result, arguments); a status is a c_void_p
    "wasinn_version": (c_char_p,),
    "wasinn_status_code": (c_int, c_void_p),
    "wasinn_status_message": (c_char_p, c_void_p),
    "wasinn_status_backend": (c_char_p, c_void_p),
    "wasinn_status_free": (None, c_void_p),
    "wasinn_code_name": (c_char_p, c_int),
    "wasinn_dtype_name": (c_char_p, c_int),
    "wasinn_target_name": (c_char_p, c_int),
    "wasinn_target_parse": (c_void_p, c_char_p, POINTER(c_int)),
    "wasinn_config_new": (c_void_p,),
    "wasinn_config_free": (None, c_void_p),
    "wasinn_config_load_file": (c_void_p, c_void_p, c_char_p),
    "wasinn_config_load_toml": (c_void_p, c_void_p, c_char_p),
    "wasinn_host_new": (c_void_p, c_void_p, LogFunction, c_void_p, POINTER(c_void_p)),
    "wasinn_host_free": (None, c_void_p),
    "wasinn_host_limits": (c_void_p, c_void_p, POINTER(Limits)),
    "wasinn_host_policy": (c_void_p, c_void_p, POINTER(Policy)),
    "wasinn_host_add_model": (c_void_p, c_void_p, c_char_p, POINTER(ModelOptions)),
    "wasinn_host_add_models": (c_void_p, c_void_p, c_char_p),
    "wasinn_host_remove_model": (c_void_p, c_void_p, c_char_p),
    "wasinn_host_unload_model": (c_void_p, c_void_p, c_char_p),
    "wasinn_host_reload_model": (c_void_p, c_void_p, c_char_p),
    "wasinn_host_models": (None, c_void_p, ModelFunction, c_void_p),
    "wasinn_host_inspect": (c_void_p, c_void_p, c_char_p, IoFunction, c_void_p),
    "wasinn_host_backends": (None, c_void_p, BackendFunction, c_void_p),
    "wasinn_host_metrics": (c_void_p, c_void_p, TextFunction, c_void_p),
    "wasinn_guest_new": (c_void_p, c_void_p, POINTER(GuestOptions), POINTER(c_void_p)),
    "wasinn_guest_close": (None, c_void_p),
    "wasinn_guest_stop": (None, c_void_p),
    "wasinn_guest_free": (None, c_void_p),
    "wasinn_guest_statistics": (c_void_p, c_void_p, POINTER(Statistics)),
    "wasinn_wit": (POINTER(WitFunctions),),
}


def _load() -> ctypes.CDLL:
    path = min((PREFIX / "lib").glob("libwasinn.so.*.*"))  # a build also has the library under another name
    library = ctypes.CDLL(str(path))
    for name, (returns, *takes) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = returns, takes
    return library


lib = _load()
wit = lib.wasinn_wit().contents
__version__ = lib.wasinn_version().decode()
