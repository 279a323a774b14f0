"""Tensors over wasi:nn, which has fewer types than models: the others are passed bit for bit (docs/abi.md)."""

from __future__ import annotations

import ctypes

from ._abi import WitView, wit
from ._handle import Handle
from ._status import check, content
from .tensor import Tensor

# The cases of tensor-type, in their order.
_WIT_TYPES = ("f16", "f32", "f64", "bf16", "u8", "i32", "i64")
# Types that are passed as another one: that type, and the factor by which the last dimension grows.
_AS = {"i8": ("u8", 1), "bool": ("u8", 1), "u32": ("i32", 1), "u64": ("i64", 1), "i16": ("u8", 2), "u16": ("u8", 2)}


def _address(data: bytes | bytearray | memoryview) -> tuple[object, int]:
    """The object that keeps the bytes, and their address."""
    if isinstance(data, bytes):
        return data, ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0
    view = memoryview(data)
    if view.readonly or not view.nbytes or not view.c_contiguous:
        return _address(view.tobytes())
    kept = (ctypes.c_char * view.nbytes).from_buffer(view)
    return kept, ctypes.addressof(kept)


def send(guest: Handle, tensor: Tensor) -> int:
    """The rep of a new tensor of the guest."""
    dtype, factor = _AS.get(tensor.dtype, (tensor.dtype, 1))
    shape = list(tensor.shape)
    if factor > 1:
        shape[-1:] = [factor * (shape[-1] if shape else 1)]
    kept, address = _address(tensor.data)
    rep = ctypes.c_uint32()
    dimensions = (ctypes.c_uint32 * len(shape))(*shape)
    check(
        wit.tensor_new(
            guest, dimensions, len(shape), _WIT_TYPES.index(dtype), address, memoryview(tensor.data).nbytes, rep
        )
    )
    del kept
    return rep.value


def receive(guest: Handle, rep: int, declared: dict | None) -> Tensor:
    """The content of a tensor of the guest, with the type and rank that the model declares for it. Drops the tensor."""
    try:
        number, view = ctypes.c_uint32(), WitView()
        check(wit.tensor_type(guest, rep, number))
        check(wit.tensor_dimensions(guest, rep, view))
        shape = [int.from_bytes(dimension, "little") for dimension in _parts(content(view, 4), 4)]
        view = WitView()
        check(wit.tensor_data(guest, rep, view))
        data = content(view)
    finally:
        check(wit.tensor_drop(guest, rep))
    dtype = _WIT_TYPES[number.value]
    travelled, factor = _AS.get(declared["type"], ("", 1)) if declared else ("", 1)
    if declared and travelled == dtype:
        if factor > 1:
            shape[-1:] = [] if declared["shape"] == [] else [shape[-1] // factor]
        dtype = declared["type"]
    return Tensor(dtype, tuple(shape), data)


def _parts(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]
