"""Builds models/digits.onnx from weights.npz and checks it on the held-out images.

input  image          float32 [batch, 1, 8, 8], 0..1
output probabilities  float32 [batch, 10]
"""

import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import dataset


def convolution(name, source, target):
    return [
        helper.make_node(
            "Conv", [source, f"{name}.weight", f"{name}.bias"], [f"{name}.sum"], name=name, pads=[1, 1, 1, 1]
        ),
        helper.make_node("Relu", [f"{name}.sum"], [target], name=f"{name}.relu"),
    ]


def maximum_2x2(name, source, target):
    return helper.make_node(
        "MaxPool", [source], [target], name=name, kernel_shape=[2, 2], strides=[2, 2]
    )


def build(weights):
    nodes = [
        *convolution("conv1", "image", "a"),
        *convolution("conv2", "a", "b"),
        maximum_2x2("pool2", "b", "c"),
        *convolution("conv3", "c", "d"),
        maximum_2x2("pool3", "d", "e"),
        helper.make_node("Flatten", ["e"], ["features"], name="flatten", axis=1),
        helper.make_node(
            "Gemm", ["features", "dense.weight", "dense.bias"], ["scores"], name="dense", transB=1
        ),
        helper.make_node("Softmax", ["scores"], ["probabilities"], name="softmax", axis=-1),
    ]
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 8, 8])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["batch", 10])],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    model = helper.make_model(
        graph, producer_name="wasinn", opset_imports=[helper.make_opsetid("", 13)], ir_version=7
    )
    model.doc_string = (
        "Handwritten digits, trained on the Optical Recognition of Handwritten Digits data set "
        "(E. Alpaydin, C. Kaynak; UCI Machine Learning Repository, CC BY 4.0)."
    )
    onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString(deterministic=True)


def main():
    with np.load(dataset.WEIGHTS) as weights:
        model = build(dict(weights))
    _, (_, images, labels) = dataset.load()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    (probabilities,) = session.run(None, {"image": dataset.to_input(images)})
    accuracy = float(np.mean(np.argmax(probabilities, axis=1) == labels))
    print(f"held-out accuracy in ONNX Runtime {accuracy:.4f} ({len(labels)} images)")
    if accuracy < 0.97:
        sys.exit("below 0.97: models/digits.onnx is left as it was")
    dataset.ONNX_MODEL.write_bytes(model)
    print(f"wrote {dataset.ONNX_MODEL.relative_to(dataset.ROOT)} ({len(model)} bytes)")


if __name__ == "__main__":
    main()
