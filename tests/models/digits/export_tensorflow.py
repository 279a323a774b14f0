"""Builds models/digits.pb (a frozen graph) and models/digits_saved_model/ from weights.npz, and checks both.

input  image          float32 [batch, 1, 8, 8], 0..1
output probabilities  float32 [batch, 10]
"""

import os
import shutil
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

import dataset

FROZEN = dataset.ROOT / "models" / "digits.pb"
SAVED = dataset.ROOT / "models" / "digits_saved_model"


class Digits(tf.Module):
    def __init__(self, weights):
        super().__init__()
        self.kernels, self.biases = {}, {}
        for name in ("conv1", "conv2", "conv3"):
            # [out, in, height, width] to TensorFlow's [height, width, in, out].
            self.kernels[name] = tf.Variable(weights[f"{name}.weight"].transpose(2, 3, 1, 0), name=f"{name}_kernel")
            self.biases[name] = tf.Variable(weights[f"{name}.bias"], name=f"{name}_bias")
        self.kernels["dense"] = tf.Variable(weights["dense.weight"].T, name="dense_kernel")
        self.biases["dense"] = tf.Variable(weights["dense.bias"], name="dense_bias")

    def convolution(self, name, x):
        sums = tf.nn.conv2d(x, self.kernels[name], strides=1, padding="SAME")
        return tf.nn.relu(tf.nn.bias_add(sums, self.biases[name]))

    @tf.function(input_signature=[tf.TensorSpec([None, 1, 8, 8], tf.float32, name="image")])
    def classify(self, image):
        # TensorFlow's kernels for CPUs want the channels last.
        x = tf.transpose(image, [0, 2, 3, 1])
        x = self.convolution("conv2", self.convolution("conv1", x))
        x = self.convolution("conv3", tf.nn.max_pool2d(x, 2, 2, "VALID"))
        x = tf.transpose(tf.nn.max_pool2d(x, 2, 2, "VALID"), [0, 3, 1, 2])
        features = tf.reshape(x, [tf.shape(image)[0], self.kernels["dense"].shape[0]])
        scores = tf.matmul(features, self.kernels["dense"]) + self.biases["dense"]
        return {"probabilities": tf.nn.softmax(scores)}


def freeze(function):
    frozen = convert_variables_to_constants_v2(function).graph.as_graph_def()
    # Its output is named after the graph's last node: Identity.
    for node in frozen.node:
        if node.op == "Identity" and node.name == "Identity":
            node.name = "probabilities"
    return frozen


def check(name, probabilities, labels):
    accuracy = float(np.mean(np.argmax(probabilities, axis=1) == labels))
    print(f"held-out accuracy of the {name} {accuracy:.4f} ({len(labels)} images)")
    if accuracy < 0.97:
        sys.exit("below 0.97")


def main():
    with np.load(dataset.WEIGHTS) as file:
        digits = Digits(dict(file))
    _, (_, images, labels) = dataset.load()
    images = dataset.to_input(images)

    shutil.rmtree(SAVED, ignore_errors=True)
    options = tf.saved_model.SaveOptions(save_debug_info=False)
    tf.saved_model.save(digits, SAVED, signatures=digits.classify, options=options)
    served = tf.saved_model.load(SAVED).signatures["serving_default"]
    check("SavedModel", served(image=tf.constant(images))["probabilities"].numpy(), labels)

    frozen = freeze(digits.classify.get_concrete_function())
    FROZEN.write_bytes(frozen.SerializeToString(deterministic=True))
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(frozen, name="")
    with tf.compat.v1.Session(graph=graph) as session:
        check("frozen graph", session.run("probabilities:0", {"image:0": images}), labels)
    print(f"wrote {FROZEN.relative_to(dataset.ROOT)} ({FROZEN.stat().st_size} bytes) and {SAVED.relative_to(dataset.ROOT)}")


if __name__ == "__main__":
    main()
