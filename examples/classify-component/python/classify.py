"""Reads digits with a model of the host's, through wasi:nn: a component in Python.

    classify-python.component.wasm [--raw] IMAGE...

The model takes gray images of 8x8 pixels, float32 [N, 1, 8, 8], and gives the probability of each class, float32
[N, classes]: models/digits.onnx. With --raw it prints for each image: file name, class, the output's bytes in hex.
"""

import struct
import sys

# componentize-py makes these modules from guest/wit.
from componentize_py_types import Err
from wit_world import exports
from wit_world.imports import graph
from wit_world.imports.tensor import Tensor, TensorType

import png

SIDE = 8


def classify(context, path):
    """The output's bytes."""
    width, height, gray = png.read_gray(path)
    if (width, height) != (SIDE, SIDE):
        raise ValueError(f"not {SIDE}x{SIDE} pixels")
    pixels = struct.pack(f"<{SIDE * SIDE}f", *(value / 255 for value in gray))
    image = Tensor([1, 1, SIDE, SIDE], TensorType.FP32, pixels)
    [(_, output)] = context.compute([("image", image)])
    with output:
        return output.data()


def show(path, output, raw):
    scores = struct.unpack(f"<{len(output) // 4}f", output)
    best = max(range(len(scores)), key=scores.__getitem__)
    print(f"{path} {best} {output.hex()}" if raw else f"{path}  {best}  {scores[best] * 100:5.1f} %")


def main(arguments):
    raw = arguments[:1] == ["--raw"]
    images = arguments[raw:]
    if not images:
        sys.exit("usage: classify-python.component.wasm [--raw] IMAGE...")
    with graph.load_by_name("digits") as digits, digits.init_execution_context() as context:
        for path in images:
            try:
                show(path, classify(context, path), raw)
            except (OSError, ValueError) as error:
                sys.exit(f"classify: {path}: {error}")


class Run(exports.Run):
    def run(self):
        try:
            main(sys.argv[1:])
        except Err as error:  # of wasi:nn
            with error.value as reason:
                sys.exit(f"classify: {reason.data()}")
