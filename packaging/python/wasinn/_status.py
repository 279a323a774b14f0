"""Statuses of the C API as exceptions, and its views as bytes."""

from __future__ import annotations

import ctypes

from ._abi import WitResult, WitView, lib, wit
from ._handle import Handle
from .errors import Error

# The cases of error-code in wasi:nn, in their order.
_WIT_CODES = (
    "invalid_argument",
    "invalid_encoding",
    "timeout",
    "runtime_error",
    "unsupported_operation",
    "too_large",
    "not_found",
    "security",
    "unknown",
)


def check(status: int | None) -> None:
    """Raises the error of a wasinn_status, and frees it."""
    if not status:
        return
    try:
        raise Error(
            lib.wasinn_code_name(lib.wasinn_status_code(status)).decode(),
            lib.wasinn_status_message(status).decode(errors="replace"),
            lib.wasinn_status_backend(status).decode(errors="replace"),
        )
    finally:
        lib.wasinn_status_free(status)


def content(view: WitView, size: int = 1) -> bytes:
    """The bytes of a view, whose elements have `size` bytes; the view is released."""
    try:
        return ctypes.string_at(view.data, view.count * size) if view.count else b""
    finally:
        if view.release:
            view.release(view.owner)


def checked(guest: Handle, result: WitResult) -> int:
    """The result of a function of wasi:nn; raises its error."""
    if not result.is_error:
        return result.rep
    code, view = ctypes.c_uint32(), WitView()
    try:
        check(wit.error_code(guest, result.rep, code))
        check(wit.error_data(guest, result.rep, view))
        message = content(view).decode(errors="replace")
    finally:
        check(wit.error_drop(guest, result.rep))
    raise Error(_WIT_CODES[min(code.value, len(_WIT_CODES) - 1)], message)
