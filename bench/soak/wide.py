"""One network for each framework, which takes any width: a convolution with ones, and Relu. No framework is needed to
make it.

Each has a file's name, a function that makes its bytes, the shapes of its inputs and the sum of its output by the
width; all inputs are ones. TensorFlow Lite's network only multiplies, because nothing here can write its files."""

import io
import pathlib
import struct
import sys
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(SOURCE / "tests/serve"))

from onnx_models import FLOAT, ints, message, model, node, tensor, value  # noqa: E402

ROWS, CHANNELS, KERNEL = 8, 4, 3
ONES = struct.pack("<36f", *[1] * 36)
TORCH = """
    w = torch.ones([4, 1, 3, 3])
    return torch.relu(torch.conv2d(x, w, None, [1, 1], [1, 1]))
"""


def onnx():
    weights = message(*((1, extent) for extent in (CHANNELS, 1, KERNEL, KERNEL)), (2, FLOAT), (9, ONES))
    nodes = [
        node("Constant", [], ["w"], message((1, "value"), (5, weights), (20, 4))),
        node("Conv", ["x", "w"], ["c"], ints("pads", 1, 1, 1, 1)),
        node("Relu", ["c"], ["y"]),
    ]
    return model(nodes, [value("x", tensor(FLOAT, 1, 1, ROWS, -1))], [value("y", tensor(FLOAT, 1, CHANNELS, ROWS, -1))])


def tensorflow():
    def named(name, one):
        return 5, message((1, name), (2, one))

    def operation(name, op, inputs, *attributes):
        return 1, message((1, name), (2, op), *((3, one) for one in inputs), *attributes)

    def shape(*extents):
        return message(*((2, message((1, extent))) for extent in extents))

    kind = message((6, 1))  # DT_FLOAT
    weights = message((1, 1), (2, shape(KERNEL, KERNEL, 1, CHANNELS)), (4, ONES))
    return message(
        operation("x", "Placeholder", [], named("dtype", kind), named("shape", message((7, shape(1, ROWS, -1, 1))))),
        operation("w", "Const", [], named("dtype", kind), named("value", message((8, weights)))),
        operation(
            "c",
            "Conv2D",
            ["x", "w"],
            named("T", kind),
            named("strides", message((1, message(*[(3, 1)] * 4)))),
            named("padding", message((2, "SAME"))),
        ),
        operation("y", "Relu", ["c"], named("T", kind)),
    )


def torch():
    """The archive of another model, with this code."""
    out = io.BytesIO()
    with zipfile.ZipFile(SOURCE / "tests/models/torch/relu.pt") as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            if not name.endswith(".debug_pkl"):
                text = old.read(name)
                if name.endswith(".py"):
                    text = text.replace(b"\n    return torch.relu(x)\n", TORCH.encode())
                new.writestr(name, text)
    return out.getvalue()


def convolved(width):
    return CHANNELS * (3 * ROWS - 2) * (3 * width - 2)


def by_rows(width):
    return {"x": (1, 1, ROWS, width)}


MODELS = {
    "onnx": ("wide.onnx", onnx, by_rows, convolved),
    "openvino": ("wide.onnx", onnx, by_rows, convolved),
    "tflite": (
        "scale.tflite",
        lambda: (SOURCE / "tests/models/tflite/scale.tflite").read_bytes(),
        lambda width: {"x": (width, 3), "factor": (1, 3)},
        lambda width: 3 * width,
    ),
    "torch": ("wide.pt", torch, by_rows, convolved),
    "tensorflow": ("wide.pb", tensorflow, lambda width: {"x": (1, ROWS, width, 1)}, convolved),
}
