"""The ONNX project's tests of single operators, from its Python package: onnx/backend/test/data/node.

A host need not have every operator: an error before there is a result counts as refused. A result must be that of the test, within
the tolerances of the project's own runner.
"""

import struct

from checks import CHOICE, Area, Part, fails
from spec import at

RELATIVE, ABSOLUTE = 1e-3, 1e-7  # as onnx.backend.test has them
RANDOM = ("test_training_dropout", "test_bernoulli")  # their results are one framework's random numbers

# For each element type of ONNX: its code for struct, the form's name of it, and how many elements of that make one.
# Types that a form has no number for travel bit for bit.
TYPES = {
    1: ("f", "f32", 1), 2: ("B", "u8", 1), 3: ("b", "u8", 1), 4: ("H", "u8", 2), 5: ("h", "u8", 2), 6: ("i", "i32", 1), 7: ("q", "i64", 1), 9: ("?", "u8", 1),
    10: ("e", "f16", 1), 11: ("d", "f64", 1), 12: ("I", "i32", 1), 13: ("Q", "i64", 1),
    16: ("H", "u8", 2), 17: ("B", "u8", 1), 18: ("B", "u8", 1), 19: ("B", "u8", 1), 20: ("B", "u8", 1),
}  # fmt: skip
BF16 = 16
RAW_BITS = (16, 17, 18, 19, 20)  # compared as bits


def varint(data, at_byte):
    value = shift = 0
    while True:
        byte = data[at_byte]
        value |= (byte & 0x7F) << shift
        at_byte, shift = at_byte + 1, shift + 7
        if byte < 0x80:
            return value, at_byte


def fields(data):
    """(number, value) of a protobuf message; a value is a number or bytes."""
    i = 0
    while i < len(data):
        key, i = varint(data, i)
        kind = key & 7
        if kind == 0:
            value, i = varint(data, i)
        elif kind == 2:
            size, i = varint(data, i)
            value, i = data[i : i + size], i + size
        else:
            size = 4 if kind == 5 else 8
            value, i = data[i : i + size], i + size
        yield key >> 3, value


def numbers(value):
    """Those of a repeated field: one, or many in a row."""
    if isinstance(value, int):
        return [value]
    found, i = [], 0
    while i < len(value):
        number, i = varint(value, i)
        found.append(number)
    return found


class Tensor:
    """A TensorProto."""

    DIMS, TYPE, FLOATS, INT32S, INT64S, RAW, DOUBLES, UINT64S = 1, 2, 4, 5, 7, 9, 10, 11

    def __init__(self, data):
        self.type, self.dims, self.bytes, integers = None, [], b"", []
        for number, value in fields(data):
            if number == self.DIMS:
                self.dims += numbers(value)
            elif number == self.TYPE:
                self.type = value
            elif number in (self.INT32S, self.INT64S, self.UINT64S):
                integers += numbers(value)
            elif number in (self.RAW, self.FLOATS, self.DOUBLES):
                self.bytes += value
        self.is_served = self.type in TYPES
        if self.is_served and integers:
            size = struct.calcsize("<" + TYPES[self.type][0])
            self.bytes = b"".join((integer & (256**size - 1)).to_bytes(size, "little") for integer in integers)

    def set(self, form, index, name):
        kind, times = TYPES[self.type][1:]
        if self.type == BF16 and "bf16" in form.types:
            kind, times = "bf16", 1
        dims = list(self.dims)
        if times > 1:
            dims = dims or [1]
            dims[-1] *= times
        return f"set 0 {form.tensor(index, name)} {form.types[kind]} {','.join(map(str, dims)) or '-'} {self.bytes.hex() or '-'}"

    def numbers(self, data):
        code = TYPES[self.type][0]
        return struct.unpack(f"<{len(data) // struct.calcsize('<' + code)}{code}", data)

    def wrong(self, data):
        """The error in these bytes as this tensor, or None."""
        if len(data) != len(self.bytes):
            return f"{len(data)} bytes: expected {len(self.bytes)}"
        if data == self.bytes:
            return None
        if self.type in RAW_BITS:
            return "other bits"
        for i, (got, wanted) in enumerate(zip(self.numbers(data), self.numbers(self.bytes))):
            same = got == wanted or (got != got and wanted != wanted)
            if not same and not abs(got - wanted) <= ABSOLUTE + RELATIVE * abs(wanted):
                return f"element {i} is {got}: expected {wanted}"
        return None


def values(graph, which):
    """The names of the graph's inputs (11) or outputs (12), as the framework counts them; None if one is no tensor."""
    weights = {dict(fields(value)).get(8, b"") for number, value in fields(graph) if number == 5}
    found = [dict(fields(value)) for number, value in fields(graph) if number == which]
    if which == 11:  # inputs with a default come behind the others
        found.sort(key=lambda value: value.get(1) in weights)
    return [value.get(1, b"").decode() if 1 in dict(fields(value.get(2, b""))) else None for value in found]


def read(folder, prefix):
    tensors = []
    while (path := folder / f"{prefix}_{len(tensors)}.pb").exists():
        tensors.append(Tensor(path.read_bytes()))
    return tensors


def part_of(form, folder):
    """A test, or None if it has tensors that wasi-nn has not."""
    data = folder / "test_data_set_0"
    given, wanted = read(data, "input"), read(data, "output")
    graph = next((value for number, value in fields((folder / "model.onnx").read_bytes()) if number == 7), b"")
    inputs, outputs = values(graph, 11), values(graph, 12)
    has_all = len(inputs) >= len(given) and len(outputs) >= len(wanted) and None not in inputs + outputs
    if not has_all or not all(tensor.is_served for tensor in given + wanted):
        return None
    part = Part(files={f"{folder.name}.onnx": folder / "model.onnx"})
    area = Area(form, "onnx", parts=[part])
    ready = [f"load 0 /suite/{folder.name}.onnx", "context 0 0", *(tensor.set(form, i, inputs[i]) for i, tensor in enumerate(given)), "compute 0"]
    for i, tensor in enumerate(wanted):
        step = f"get 0 {form.tensor(i, outputs[i])}"
        cite = at("compute") if form.component else at("witx compute")
        suffix = f"/{outputs[i]}" if len(wanted) > 1 else ""
        area.check(folder.name + suffix, [*ready, step] if i == 0 else step, fails("success", cite=cite, data=tensor.wrong, refused=form.errors, seen=CHOICE))
    if form.component:
        area.do("finalize 0", "drop-graph 0")
    return part


def areas(form, folder, every):
    area = Area(form, "onnx", most=10)
    for case in sorted(path for path in folder.iterdir() if (path / "model.onnx").exists() and not path.name.startswith(RANDOM))[::every]:
        if part := part_of(form, case):
            area.parts.append(part)
    yield area
