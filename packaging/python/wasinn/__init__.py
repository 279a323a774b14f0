"""Machine learning for sandboxed programs: models on this machine's own frameworks, for WebAssembly programs that use
wasi-nn, and for Python itself. docs/python.md is the guide."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._abi import __version__
    from ._paths import PREFIX
    from .command import Outcome, bench, run
    from .errors import Error
    from .guest import Context, Graph, Guest
    from .host import Backend, Host, Io, Model, Signature
    from .tensor import Tensor

__all__ = [
    "PREFIX",
    "Backend",
    "Context",
    "Error",
    "Graph",
    "Guest",
    "Host",
    "Io",
    "Model",
    "Outcome",
    "Signature",
    "Tensor",
    "__version__",
    "bench",
    "run",
]
# Loaded at their first use: the command needs none of them, and has to start quickly.
_MODULES = {
    "PREFIX": "_paths",
    "Backend": "host",
    "Context": "guest",
    "Error": "errors",
    "Graph": "guest",
    "Guest": "guest",
    "Host": "host",
    "Io": "host",
    "Model": "host",
    "Outcome": "command",
    "Signature": "host",
    "Tensor": "tensor",
    "__version__": "_abi",
    "bench": "command",
    "run": "command",
}


def __getattr__(name: str):
    if name not in _MODULES:
        raise AttributeError(f"module 'wasinn' has no attribute '{name}'")
    value = getattr(importlib.import_module("." + _MODULES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
