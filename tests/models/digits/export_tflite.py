"""Builds models/digits.tflite and models/digits_int8.tflite from weights.npz and checks them on the held-out images.

float:  input image float32 [batch, 1, 8, 8], 0..1; output probabilities float32 [batch, 10]
int8:   the same with weights and values of 8 bits: input image uint8, whose bytes are those of the PNG file; output
        probabilities uint8, of which 256 would be 1
"""

import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf

import dataset

FLOAT_MODEL = dataset.ROOT / "models" / "digits.tflite"
INT8_MODEL = dataset.ROOT / "models" / "digits_int8.tflite"


class Digits(tf.Module):
    """The network of train.py. TensorFlow's CPU kernels want channels last; the input comes with channels first."""

    def __init__(self, weights):
        super().__init__()
        self.weights = {name: tf.constant(value) for name, value in weights.items()}

    def convolution(self, name, x):
        kernel = tf.transpose(self.weights[f"{name}.weight"], [2, 3, 1, 0])
        return tf.nn.relu(tf.nn.conv2d(x, kernel, 1, "SAME") + self.weights[f"{name}.bias"])

    @tf.function(input_signature=[tf.TensorSpec([None, 1, 8, 8], tf.float32, name="image")])
    def __call__(self, image):
        x = tf.reshape(image, [-1, 8, 8, 1])  # of one channel: no transposition
        x = self.convolution("conv1", x)
        x = tf.nn.max_pool2d(self.convolution("conv2", x), 2, 2, "VALID")
        x = tf.nn.max_pool2d(self.convolution("conv3", x), 2, 2, "VALID")
        # The dense layer's weights are in the order of channels first.
        dense = tf.reshape(tf.transpose(tf.reshape(self.weights["dense.weight"], [10, 48, 2, 2]), [2, 3, 1, 0]), [192, 10])
        scores = tf.reshape(x, [-1, 192]) @ dense + self.weights["dense.bias"]
        return {"probabilities": tf.nn.softmax(scores)}


def convert(module, train_images=None):
    concrete = module.__call__.get_concrete_function()
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], module)
    if train_images is not None:
        inputs = dataset.to_input(train_images)
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: ([x[None]] for x in inputs[:300])
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = tf.uint8
        converter.inference_output_type = tf.uint8
    return converter.convert()


def accuracy(model, images, labels):
    interpreter = tf.lite.Interpreter(model_content=model)
    detail = interpreter.get_input_details()[0]
    quantised = detail["dtype"] == np.uint8
    x = images.reshape(-1, 1, 8, 8) if quantised else dataset.to_input(images)
    interpreter.resize_tensor_input(detail["index"], x.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(detail["index"], x)
    interpreter.invoke()
    output = interpreter.get_output_details()[0]
    print(detail["name"], detail["dtype"], detail["quantization"], output["name"], output["quantization"])
    return float(np.mean(np.argmax(interpreter.get_tensor(output["index"]), axis=1) == labels))


def main():
    with np.load(dataset.WEIGHTS) as weights:
        module = Digits(dict(weights))
    (_, train_images, _), (_, images, labels) = dataset.load()
    for path, model in ((FLOAT_MODEL, convert(module)), (INT8_MODEL, convert(module, train_images))):
        reached = accuracy(model, images, labels)
        print(f"held-out accuracy in TensorFlow Lite {reached:.4f} ({len(labels)} images)")
        if reached < 0.97:
            sys.exit(f"below 0.97: {path.name} is left as it was")
        path.write_bytes(model)
        print(f"wrote {path.relative_to(dataset.ROOT)} ({len(model)} bytes)")


if __name__ == "__main__":
    main()
