"""Makes the tiny TensorFlow Lite models next to this file: what the examples of other runtimes' wasi-nn compute."""

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
        lambda image: {"columns": convolution(image, 4, 1), "means": tf.nn.avg_pool2d(image, [4, 1], 1, "VALID")},
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


def ramp(spec):
    """The numbers 0, 1, 2 …, as the programs give them."""
    return tf.reshape(tf.range(spec.shape.num_elements(), dtype=spec.dtype), spec.shape)


def convert(function, specs, eight_bits=False):
    """With values of 8 bits inside, input and output stay floats."""
    module = tf.Module()  # with it the file has a signature, and that the names of inputs and outputs
    module.function = tf.function(function, input_signature=specs)
    concrete = module.function.get_concrete_function()
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], module)
    if eight_bits:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: [[ramp(spec) for spec in specs]]
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    return converter.convert()


def write(name, model):
    (HERE / f"{name}.tflite").write_bytes(model)
    print(f"wrote {name}.tflite")


def main():
    for name, (function, specs) in MODELS.items():
        write(name, convert(function, specs))
    write("average_int8", convert(*MODELS["average"], eight_bits=True))


if __name__ == "__main__":
    main()
