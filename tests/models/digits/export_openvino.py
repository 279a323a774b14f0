"""Builds models/digits.xml and models/digits.bin (OpenVINO's IR) from weights.npz and checks them on the held-out images.

input  image          float32 [batch, 1, 8, 8], 0..1
output probabilities  float32 [batch, 10]
"""

import sys

import numpy as np
import openvino as ov
from openvino import opset13 as op

import dataset

MODEL = dataset.ONNX_MODEL.with_name("digits.xml")


def convolution(weights, name, x):
    y = op.convolution(x, op.constant(weights[f"{name}.weight"]), [1, 1], [1, 1], [1, 1], [1, 1], name=name)
    bias = op.constant(weights[f"{name}.bias"].reshape(1, -1, 1, 1))
    return op.relu(op.add(y, bias), name=f"{name}.relu")


def maximum_2x2(x):
    return op.max_pool(x, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2]).output(0)


def build(weights):
    image = op.parameter([-1, 1, 8, 8], np.float32, name="image")
    image.output(0).tensor.set_names({"image"})
    x = convolution(weights, "conv1", image)
    x = maximum_2x2(convolution(weights, "conv2", x))
    x = maximum_2x2(convolution(weights, "conv3", x))
    features = op.reshape(x, op.constant(np.array([0, -1], np.int64)), True)
    scores = op.matmul(features, op.constant(weights["dense.weight"]), False, True)
    scores = op.add(scores, op.constant(weights["dense.bias"].reshape(1, -1)))
    result = op.result(op.softmax(scores, 1), name="probabilities")
    result.output(0).tensor.set_names({"probabilities"})
    return ov.Model([result], [image], "digits")


def main():
    with np.load(dataset.WEIGHTS) as weights:
        model = build(dict(weights))
    _, (_, images, labels) = dataset.load()
    compiled = ov.Core().compile_model(model, "CPU")
    probabilities = compiled([dataset.to_input(images)])[0]
    accuracy = float(np.mean(np.argmax(probabilities, axis=1) == labels))
    print(f"held-out accuracy in OpenVINO {accuracy:.4f} ({len(labels)} images)")
    if accuracy < 0.97:
        sys.exit(f"below 0.97: {MODEL.name} is left as it was")
    ov.save_model(model, MODEL, compress_to_fp16=False)
    print(f"wrote {MODEL.relative_to(dataset.ROOT)} and its weights")


if __name__ == "__main__":
    main()
