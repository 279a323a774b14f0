"""Arguments in the form of the C API."""

from __future__ import annotations

import ctypes
import operator
import os
from collections.abc import Iterable, Sequence
from typing import Any, Union

from . import _abi
from ._abi import lib
from ._status import check

#: The bytes of a model, or of a part of one.
Blob = Union[bytes, bytearray, memoryview]


def blobs(model: Blob | Sequence[Blob]) -> Any:
    """The parts of a model (most models have one) as an array of wasinn_bytes, which keeps the parts alive."""
    parts = [bytes(part) for part in ([model] if isinstance(model, (bytes, bytearray, memoryview)) else model)]
    array: Any = (_abi.Bytes * len(parts))()
    array.kept = parts
    for entry, part in zip(array, parts):
        entry.data, entry.size = ctypes.cast(ctypes.c_char_p(part), ctypes.c_void_p).value, len(part)
    return array


def c_text(text: str | os.PathLike, what: str) -> bytes:
    """A text or a path for C, which ends it at its first zero: so it must not have one."""
    encoded = os.fsencode(text) if isinstance(text, os.PathLike) else text.encode(errors="surrogateescape")
    if b"\0" in encoded:
        raise ValueError(f"{what} has a zero byte: {text!r}")
    return encoded


def words(values: Iterable[str], what: str) -> list[str]:
    """A list of words. A single text is refused, because Python would take it for a list of letters."""
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{what} is a list; found {values!r}")
    return list(values)


def set_number(struct: ctypes.Structure, field: str, value: int, what: str) -> None:
    """Sets an unsigned field. A number that is too large is refused, because ctypes would cut it off."""
    number, size = operator.index(value), getattr(type(struct), field).size
    if not 0 <= number < 1 << 8 * size:
        raise OverflowError(f"{what} is a number from 0 to {(1 << 8 * size) - 1}; found {number}")
    setattr(struct, field, number)


def flag(value: bool, what: str) -> bool:
    """A bool. A text is refused, because ctypes would take "false" for True."""
    if not isinstance(value, bool):
        raise TypeError(f"{what} is True or False; found {value!r}")
    return value


def target_number(word: str) -> int:
    """ "cpu" as a wasinn_target."""
    out = ctypes.c_int()
    check(lib.wasinn_target_parse(c_text(word, "the target"), out))
    return out.value
