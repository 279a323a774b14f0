"""Tensors: the inputs and outputs of models."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    import numpy

#: Types of inputs: a tensor; an object with the buffer protocol, such as an array of NumPy or array.array; a text.
Input = Union["Tensor", str, bytes, bytearray, memoryview, Any]

# For each element type its size, and its letter in the standard library's struct and memoryview ("": Python has no such
# number).
_TYPES = {
    "f16": (2, "e"),
    "bf16": (2, ""),
    "f32": (4, "f"),
    "f64": (8, "d"),
    "u8": (1, "B"),
    "i8": (1, "b"),
    "u16": (2, "H"),
    "i16": (2, "h"),
    "u32": (4, "I"),
    "i32": (4, "i"),
    "u64": (8, "Q"),
    "i64": (8, "q"),
    "bool": (1, "?"),
}
_KINDS = {"e": "f", "f": "f", "d": "f", "?": "bool"}


def _type_of(view: memoryview) -> str:
    letter = view.format.lstrip("@=<")
    kind = _KINDS.get(letter, "u" if letter in "BHILQN" else "i" if letter in "bhilqn" else "")
    name = "bool" if kind == "bool" else f"{kind}{8 * view.itemsize}"
    if not kind or name not in _TYPES:
        raise TypeError(
            f"a tensor has elements of {', '.join(_TYPES)}; expected one of these, found the format '{view.format}'"
        )
    return name


@dataclass(frozen=True)
class Tensor:
    """Elements of one type in a shape: dense, the last dimension varies fastest, little-endian.

    `dtype` is "f16", "bf16", "f32", "f64", "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64" or "bool"; `data` has
    the bytes."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes | bytearray | memoryview

    def __post_init__(self):
        if self.dtype not in _TYPES:
            raise ValueError(f"the element types are {', '.join(_TYPES)}; found '{self.dtype}'")
        size = _TYPES[self.dtype][0] * math.prod(self.shape)
        found = memoryview(self.data).nbytes  # len() counts elements, or something else in a subclass
        if size != found:
            raise ValueError(f"{self.dtype}{list(self.shape)} has {size} bytes; found {found}")

    @staticmethod
    def of(value: Input) -> Tensor:
        """Makes a tensor of a text (its UTF-8), or of a buffer's elements, in its shape. Returns a tensor as it is.
        Nothing is converted: an array of f64 becomes a tensor of f64."""
        if isinstance(value, Tensor):
            return value
        if isinstance(value, str):
            value = value.encode()
        try:
            view = memoryview(value)
        except TypeError:
            raise TypeError(
                "an input is a Tensor, a text, bytes, or an array with a type (of NumPy, array.array); "
                f"found {type(value).__name__}"
            ) from None
        data = view.cast("B") if view.c_contiguous and view.ndim > 0 and view.nbytes > 0 else view.tobytes()
        return Tensor(_type_of(view), tuple(view.shape or ()), data)

    def numpy(self) -> numpy.ndarray:
        """The tensor as an array of NumPy, which must be installed. Nothing is copied. NumPy has no bf16: these come as
        u16."""
        import numpy

        return numpy.frombuffer(self.data, "<u2" if self.dtype == "bf16" else _TYPES[self.dtype][1]).reshape(self.shape)

    def __array__(self, dtype=None, copy=None):
        array = self.numpy()
        return array.astype(dtype) if dtype is not None else array.copy() if copy else array

    def tolist(self) -> list:
        """The numbers, in nested lists. A scalar is a list of one number."""
        if self.dtype == "bf16":  # the upper half of an f32
            halves = struct.unpack(f"<{math.prod(self.shape)}H", self.data)
            flat = [struct.unpack("<f", struct.pack("<I", half << 16))[0] for half in halves]
        else:
            _, letter = _TYPES[self.dtype]
            flat = list(struct.unpack(f"<{math.prod(self.shape)}{letter}", self.data))
        for extent in reversed(self.shape[1:]):
            flat = [flat[at : at + extent] for at in range(0, len(flat), extent)] if extent else []
        return flat

    @property
    def text(self) -> str:
        """The bytes as UTF-8, as language models give them."""
        return bytes(self.data).decode()
