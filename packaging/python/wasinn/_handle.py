"""Handles of the C API that live as long as they are used."""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Callable

_Free = Callable[["int | None", object], None]


class Handle(ctypes.c_void_p):
    """A handle that is freed with the last reference to it. A call of the C API gets this object as its argument, and
    so has a reference from its beginning to its end: no thread frees a handle during the call of another.

    The interpreter's exit does not free it: a daemon thread may be in a call, and would use a freed handle."""

    def __init__(self, address: int | None, free: _Free, kept: object):
        super().__init__(address)
        self.freed = threading.Event()
        weakref.finalize(self, _end, address, free, kept, self.freed).atexit = False


def _end(address: int | None, free: _Free, kept: object, freed: threading.Event) -> None:
    free(address, kept)
    freed.set()
