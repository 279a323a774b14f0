"""The exceptions of this package."""

from __future__ import annotations


class Error(Exception):
    """A call that failed. `code` is a name of wasinn.h, such as "invalid_argument", "not_found" or "timeout"; `backend`
    is the name of the backend that reported it, or ""."""

    def __init__(self, code: str, message: str, backend: str = ""):
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.backend = backend
