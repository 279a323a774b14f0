"""Writes a network of MobileNetV2's shape with random weights: make_mobilenet.py PATH

image float32 [1, 3, 224, 224] -> probabilities float32 [1, 1000]; 3.5 million parameters, 14 MB; the same bytes in
every run. It is for timing only, so nothing is committed. Batch normalisation is folded into the convolutions, as in any
network that was made ready for inference; the layers are those of table 2 in arXiv:1801.04381.
"""

import pathlib
import sys

import numpy as np
from onnx import numpy_helper

from models import FLOAT, check, model, node, tensor, value, write

# expansion, channels, repeats, first stride
BLOCKS = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
CLASSES = 1000


class Network:
    """Nodes and weights so far; every method takes the name of a tensor and returns the name of the next."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes = []
        self.weights = [tensor("zero", FLOAT, [], [0.0]), tensor("six", FLOAT, [], [6.0])]

    def weight(self, name, *dims):
        scale = np.sqrt(2.0 / np.prod(dims[1:])) if len(dims) > 1 else 0.01
        data = self.random.standard_normal(dims, np.float32) * np.float32(scale)
        self.weights.append(numpy_helper.from_array(data, name))
        return name

    def add(self, op, inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(node(op, inputs, [name], **attributes))
        return name

    def convolution(self, x, inside, outside, kernel=1, stride=1, groups=1, relu6=True):
        name = f"conv{len(self.nodes)}"
        weight = self.weight(name + ".weight", outside, inside // groups, kernel, kernel)
        bias = self.weight(name + ".bias", outside)
        pad = kernel // 2
        y = self.add("Conv", [x, weight, bias], group=groups, strides=[stride] * 2, pads=[pad] * 4)
        return self.add("Clip", [y, "zero", "six"]) if relu6 else y

    def inverted_residual(self, x, inside, outside, expansion, stride):
        wide = inside * expansion
        y = self.convolution(x, inside, wide) if expansion > 1 else x
        y = self.convolution(y, wide, wide, kernel=3, stride=stride, groups=wide)
        y = self.convolution(y, wide, outside, relu6=False)
        return self.add("Add", [x, y]) if stride == 1 and inside == outside else y


def build(seed=2):
    network = Network(seed)
    x, channels = network.convolution("image", 3, 32, kernel=3, stride=2), 32
    for expansion, outside, repeats, stride in BLOCKS:
        for i in range(repeats):
            x = network.inverted_residual(x, channels, outside, expansion, stride if i == 0 else 1)
            channels = outside
    x = network.convolution(x, channels, 1280)
    x = network.add("Flatten", [network.add("GlobalAveragePool", [x])])
    weight, bias = network.weight("dense.weight", CLASSES, 1280), network.weight("dense.bias", CLASSES)
    x = network.add("Gemm", [x, weight, bias], transB=1)
    network.nodes.append(node("Softmax", [x], ["probabilities"], axis=-1))
    return model(
        "mobilenet",
        network.nodes,
        [value("image", FLOAT, [1, 3, 224, 224])],
        [value("probabilities", FLOAT, [1, CLASSES])],
        network.weights,
    )


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: make_mobilenet.py PATH")
    path = pathlib.Path(sys.argv[1])
    proto = build()
    check(proto)
    parameters = sum(int(np.prod(w.dims)) for w in proto.graph.initializer if w.dims)
    print(f"wrote {path} ({write(path, proto)} bytes, {parameters} parameters)")


if __name__ == "__main__":
    main()
