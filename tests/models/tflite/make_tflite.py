"""Makes the tiny TensorFlow Lite models beside this file: what the examples of other runtimes' wasi-nn compute."""

import os
import pathlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tensorflow as tf  # noqa: E402  (the level must be set before)

HERE = pathlib.Path(__file__).resolve().parent


def kernel(*shape):
    return tf.ones(shape, tf.float32)


def convolution(x, rows, columns):
    """The sum of each window, as the convolution with ones that it is."""
    return tf.nn.conv2d(x, kernel(rows, columns, 1, 1), 1, "VALID")


def image(*shape):
    return tf.TensorSpec([1, *shape, 1], tf.float32, name="image")


MODELS = {
    # name: (function, specs of its inputs)
    "sum": (lambda image: {"sum": convolution(image, 5, 5)}, [image(5, 5)]),
    "max": (lambda image: {"max": tf.nn.max_pool2d(image, 5, 5, "VALID")}, [image(5, 5)]),
    "average": (lambda image: {"average": tf.nn.avg_pool2d(image, 5, 5, "VALID")}, [image(5, 5)]),
    "mult_dimension": (lambda image: {"same": convolution(image, 1, 1)}, [image(3, 3)]),
    "mult_outputs": (
        lambda image: {"columns": convolution(image, 4, 1), "rows": convolution(image, 1, 4)},
        [image(4, 4)],
    ),
    "add": (
        lambda a, b: {"sum": a + b},
        [tf.TensorSpec([2, 2], tf.float32, name=name) for name in "ab"],
    ),
    # For timing: as the models of these names for the other frameworks.
    "mean": (
        lambda image: {"mean": tf.reduce_mean(image, [2, 3])},
        [tf.TensorSpec([1, 3, 8, 8], tf.float32, name="image")],
    ),
    "relu": (lambda x: {"y": tf.nn.relu(x)}, [tf.TensorSpec([1, 3, 224, 224], tf.float32, name="x")]),
    # Any number of rows.
    "scale": (
        lambda x, factor: {"scaled": x * factor},
        [
            tf.TensorSpec([None, 3], tf.float32, name="x"),
            tf.TensorSpec([1, 3], tf.float32, name="factor"),
        ],
    ),
}


def convert(function, specs):
    module = tf.Module()  # with it the file has a signature, and that the names of inputs and outputs
    module.function = tf.function(function, input_signature=specs)
    concrete = module.function.get_concrete_function()
    return tf.lite.TFLiteConverter.from_concrete_functions([concrete], module).convert()


def main():
    for name, (function, specs) in MODELS.items():
        (HERE / f"{name}.tflite").write_bytes(convert(function, specs))
        print(f"wrote {name}.tflite")


if __name__ == "__main__":
    main()
