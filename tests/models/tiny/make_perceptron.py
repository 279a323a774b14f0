"""Writes a perceptron of four layers of 1,024 with random weights: make_perceptron.py PATH

x float32 [n, 1024] -> y float32 [n, 1024]; 4.2 million parameters, 17 MB; the same bytes in every run. One row is as
much memory as work, so that a batch gains much. It is for timing only, so nothing is committed.
"""

import pathlib
import sys

import numpy as np
from onnx import numpy_helper

from models import FLOAT, check, model, node, value, write

WIDTH = 1024
LAYERS = 4


def build():
    random = np.random.default_rng(1)
    nodes, weights, x = [], [], "x"
    for i in range(LAYERS):
        weight = random.standard_normal((WIDTH, WIDTH), np.float32) / np.float32(np.sqrt(WIDTH))
        weights += [
            numpy_helper.from_array(weight, f"weight{i}"),
            numpy_helper.from_array(np.zeros(WIDTH, np.float32), f"bias{i}"),
        ]
        nodes.append(node("Gemm", [x, f"weight{i}", f"bias{i}"], [f"sum{i}"]))
        x = "y" if i == LAYERS - 1 else f"x{i}"
        nodes.append(node("Relu", [f"sum{i}"], [x]))
    shape = ["n", WIDTH]
    return model("perceptron", nodes, [value("x", FLOAT, shape)], [value("y", FLOAT, shape)], weights)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: make_perceptron.py PATH")
    path = pathlib.Path(sys.argv[1])
    proto = build()
    check(proto)
    print(f"wrote {path} ({write(path, proto)} bytes)")


if __name__ == "__main__":
    main()
