#!/usr/bin/env python3
"""Makes the two models that are between those of openwakeword in the pipeline of this example: window.onnx and
features.onnx.

usage: make_models.py FOLDER

It needs the Python package onnx. Each model appends its input to its state, and keeps the end, like openwakeword's
AudioFeatures, in float32 as there."""

import os
import sys

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save


def constant(name, values, dtype=np.int64):
    return numpy_helper.from_array(np.array(values, dtype=dtype), name)


def tensor(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def model(name, nodes, inputs, outputs, constants):
    graph = helper.make_graph(nodes, name, inputs, outputs, constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], producer_name="wasinn", ir_version=8)
    checker.check_model(made, full_check=True)
    return made


def last(rows):
    return [
        helper.make_node("Concat", ["history", "new"], ["all"], axis=0),
        helper.make_node("Slice", ["all", "from", "to", "axis"], ["next"]),
    ], [constant("from", [-rows]), constant("to", [2**31 - 1]), constant("axis", [0])]


def window():
    """Appends mel / 10 + 2 to the frames of the state; the last 76 are the next window of the embedding."""
    nodes, constants = last(76)
    return model(
        "window",
        [
            helper.make_node("Reshape", ["mel", "rows"], ["frames"]),
            helper.make_node("Div", ["frames", "ten"], ["scaled"]),
            helper.make_node("Add", ["scaled", "two"], ["new"]),
            *nodes,
            helper.make_node("Reshape", ["next", "image"], ["window"]),
        ],
        [tensor("mel", [None, 1, None, 32]), tensor("history", [76, 32])],
        [tensor("window", [1, 76, 32, 1]), tensor("next", [76, 32])],
        [
            constant("rows", [-1, 32]),
            constant("ten", 10, np.float32),
            constant("two", 2, np.float32),
            constant("image", [1, 76, 32, 1]),
            *constants,
        ],
    )


def features():
    """Appends an embedding to those of the state; a wake word is looked for in the last 16."""
    nodes, constants = last(16)
    return model(
        "features",
        [
            helper.make_node("Reshape", ["embedding", "rows"], ["new"]),
            *nodes,
            helper.make_node("Reshape", ["next", "batch"], ["features"]),
        ],
        [tensor("embedding", [None, 1, 1, 96]), tensor("history", [16, 96])],
        [tensor("features", [1, 16, 96]), tensor("next", [16, 96])],
        [constant("rows", [-1, 96]), constant("batch", [1, 16, 96]), *constants],
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} FOLDER")
    save(window(), os.path.join(sys.argv[1], "window.onnx"))
    save(features(), os.path.join(sys.argv[1], "features.onnx"))
