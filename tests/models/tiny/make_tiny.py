"""Writes the honest models of this folder: small ones, and some that are small only as a file.

Each is checked by the onnx package; check_tiny.py runs them in ONNX Runtime. The hostile ones: make_hostile.py.
"""

import pathlib

import numpy as np
from onnx import TensorProto, helper

from models import FLOAT, INT64, check, external_tensor, graph, model, node, tensor, value, write

HERE = pathlib.Path(__file__).resolve().parent
INT64_MAX = 2**63 - 1
GIBI = 2**30  # elements; 4 GiB of float32
# The checker looks for external files in the working directory, and wants the rank of every output.
UNCHECKED = {"external", "huge_output"}

ELEMENT_TYPES = {
    "f16": TensorProto.FLOAT16,
    "bf16": TensorProto.BFLOAT16,
    "f32": TensorProto.FLOAT,
    "f64": TensorProto.DOUBLE,
    "u8": TensorProto.UINT8,
    "i8": TensorProto.INT8,
    "u16": TensorProto.UINT16,
    "i16": TensorProto.INT16,
    "u32": TensorProto.UINT32,
    "i32": TensorProto.INT32,
    "u64": TensorProto.UINT64,
    "i64": TensorProto.INT64,
    "bool": TensorProto.BOOL,
    "string": TensorProto.STRING,
}


def identity(name, element_type, dims):
    return model(
        name, [node("Identity", ["x"], ["y"])], [value("x", element_type, dims)], [value("y", element_type, dims)]
    )


def relu(name, dims):
    return model(name, [node("Relu", ["x"], ["y"])], [value("x", FLOAT, dims)], [value("y", FLOAT, dims)])


def mean(name, dims):
    return model(
        name,
        [node("GlobalAveragePool", ["image"], ["pooled"]), node("Flatten", ["pooled"], ["mean"])],
        [value("image", FLOAT, dims)],
        [value("mean", FLOAT, [1, 3])],
    )


def nonzero():
    """How many columns come out is known only after compute."""
    return model(
        "nonzero",
        [node("NonZero", ["x"], ["indices"])],
        [value("x", FLOAT, [2, 3])],
        [value("indices", INT64, [2, "count"])],
    )


def two_in_two_out():
    return model(
        "two_in_two_out",
        [node("Sub", ["a", "b"], ["difference"]), node("Add", ["a", "b"], ["sum"])],
        [value("a", FLOAT, [2, 2]), value("b", FLOAT, [2, 2])],
        [value("difference", FLOAT, [2, 2]), value("sum", FLOAT, [2, 2])],
    )


def optional_input():
    """`offset` may be left unset: an initializer of the same name is its default, 10 and 20."""
    return model(
        "optional_input",
        [node("Add", ["x", "offset"], ["y"])],
        [value("x", FLOAT, [2]), value("offset", FLOAT, [2])],
        [value("y", FLOAT, [2])],
        [tensor("offset", FLOAT, [2], [10.0, 20.0])],
    )


def endless():
    """A loop of INT64_MAX rounds whose condition stays true: only cancelling ends it."""
    body = graph(
        "body",
        [node("Identity", ["go_in"], ["go_out"]), node("Add", ["v_in", "one"], ["v_out"])],
        [value("round", INT64, []), value("go_in", TensorProto.BOOL, []), value("v_in", FLOAT, [1])],
        [value("go_out", TensorProto.BOOL, []), value("v_out", FLOAT, [1])],
    )
    return model(
        "endless",
        [node("Loop", ["rounds", "go", "x"], ["y"], body=body)],
        [value("x", FLOAT, [1])],
        [value("y", FLOAT, [1])],
        [
            tensor("rounds", INT64, [], [INT64_MAX]),
            tensor("go", TensorProto.BOOL, [], [True]),
            tensor("one", FLOAT, [1], [1.0]),
        ],
    )


def huge_output():
    """The guest chooses the output's shape, even its rank: [1024, 1024, 1024] makes 4 GiB."""
    return model(
        "huge_output",
        [node("ConstantOfShape", ["shape"], ["y"], value=tensor("fill", FLOAT, [1], [1.0]))],
        [value("shape", INT64, ["rank"])],
        [value("y", FLOAT, None)],
    )


def huge_static():
    """An output that is declared as 4 GiB."""
    return model(
        "huge_static",
        [node("Expand", ["x", "shape"], ["y"])],
        [value("x", FLOAT, [1, 1])],
        [value("y", FLOAT, [1, GIBI])],
        [tensor("shape", INT64, [2], [1, GIBI])],
    )


def huge_intermediate():
    """4 GiB inside, one number outside."""
    return model(
        "huge_intermediate",
        [node("Expand", ["x", "shape"], ["inside"]), node("ReduceMax", ["inside"], ["y"], keepdims=0)],
        [value("x", FLOAT, [1])],
        [value("y", FLOAT, [])],
        [tensor("shape", INT64, [1], [GIBI])],
    )


def external():
    """y = x + external.bin, whose bytes are the numbers 1 to 4."""
    np.array([1, 2, 3, 4], dtype="<f4").tofile(HERE / "external.bin")
    return model(
        "external",
        [node("Add", ["x", "weights"], ["y"])],
        [value("x", FLOAT, [4])],
        [value("y", FLOAT, [4])],
        [external_tensor("weights", [4], "external.bin", 0, 16)],
    )


def sequence_output():
    return model(
        "sequence_output",
        [node("SplitToSequence", ["x"], ["parts"], axis=0)],
        [value("x", FLOAT, [2, 3])],
        [helper.make_tensor_sequence_value_info("parts", FLOAT, [1, 3])],
    )


def sequence_input():
    return model(
        "sequence_input",
        [node("ConcatFromSequence", ["parts"], ["y"], axis=0)],
        [helper.make_tensor_sequence_value_info("parts", FLOAT, ["n", 3])],
        [value("y", FLOAT, ["total", 3])],
    )


def all_models():
    for name, element_type in ELEMENT_TYPES.items():
        yield identity(f"identity_{name}", element_type, [2, 3])
    yield identity("identity_scalar", FLOAT, [])
    yield identity("identity_empty", FLOAT, [0, 3])
    yield relu("relu", [1, 3, 224, 224])
    yield relu("dynamic", ["n", "m"])
    yield mean("mean", [1, 3, 8, 8])
    yield mean("mean_large", [1, 3, 224, 224])
    for make in (
        nonzero,
        two_in_two_out,
        optional_input,
        endless,
        huge_output,
        huge_static,
        huge_intermediate,
        external,
        sequence_output,
        sequence_input,
    ):
        yield make()


def main():
    for proto in all_models():
        name = proto.graph.name
        if name not in UNCHECKED:
            check(proto)
        print(f"{write(HERE / (name + '.onnx'), proto):6} bytes  {name}.onnx")


if __name__ == "__main__":
    main()
