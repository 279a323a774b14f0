"""Makes the models in OpenVINO's format (IR) that the tests of its backend use: see ../README.md."""

import pathlib

import numpy as np
import openvino as ov
from openvino import opset13 as op

HERE = pathlib.Path(__file__).parent

TYPES = "f16 bf16 f32 f64 u8 i8 u16 i16 u32 i32 u64 i64 boolean".split()


def parameter(shape, name, dtype=np.float32):
    node = op.parameter(shape, dtype, name=name)
    node.output(0).tensor.set_names({name})
    return node


def result(node, name):
    node = op.result(node, name=name)
    node.output(0).tensor.set_names({name})
    return node


def save(name, results, inputs, sinks=()):
    model = ov.Model(results, list(sinks), inputs, name)
    path = HERE / f"{name}.xml"
    ov.save_model(model, path, compress_to_fp16=False)
    weights = path.with_suffix(".bin")
    if weights.stat().st_size == 0:
        weights.unlink()


def identity(name, shape, dtype):
    x = parameter(shape, "x", dtype)
    save(name, [result(x, "y")], [x])


def mean():
    x = parameter([1, 3, 8, 8], "image")
    axes = op.constant(np.array([2, 3], np.int64))
    save("mean", [result(op.reduce_mean(x, axes), "mean")], [x])


def relu():
    x = parameter([1, 3, 224, 224], "x")
    save("relu", [result(op.relu(x), "y")], [x])


def dynamic():
    x = parameter([-1, -1], "x")
    save("dynamic", [result(op.relu(x), "y")], [x])


def any_rank():
    """An output whose rank the caller chooses; CPUs take no such input."""
    x, shape = parameter([-1], "x"), parameter([-1], "shape", np.int64)
    save("any_rank", [result(op.reshape(x, shape, False), "y")], [x, shape])


def bounded():
    x = op.parameter(ov.PartialShape([ov.Dimension(1, 4), 2]), np.float32, name="x")
    x.output(0).tensor.set_names({"x"})
    save("bounded", [result(op.relu(x), "y")], [x])


def nonzero():
    x = parameter([2, 3], "x")
    save("nonzero", [result(op.non_zero(x, "i64"), "indices")], [x])


def two_in_two_out():
    a, b = parameter([2, 2], "a"), parameter([2, 2], "b")
    save("two_in_two_out", [result(op.subtract(a, b), "difference"), result(op.add(a, b), "sum")], [a, b])


def unnamed():
    x = op.parameter([2], np.float32)
    save("unnamed", [op.result(op.relu(x))], [x])


def passed_on():
    """Outputs that no operation writes: an input, and a constant."""
    x = parameter([2], "x")
    constant = op.constant(np.array([5, 6], np.float32))
    save("passed_on", [result(x, "same"), result(constant, "constant"), result(op.relu(x), "y")], [x])


def matmul():
    """Weights that are not square, and large enough that copying them at load would show."""
    x = parameter([1, 64], "x")
    weights = (np.arange(64 * 32, dtype=np.float32).reshape(64, 32) % 17 - 8) / 8
    save("matmul", [result(op.matmul(x, op.constant(weights), False, False), "y")], [x])


def strings():
    x = parameter([2], "x", ov.Type.string)
    y = parameter([2], "y")
    save("strings", [result(x, "text"), result(op.relu(y), "z")], [x, y])


def huge_output():
    """The caller chooses the size of the output."""
    shape = parameter([2], "shape", np.int64)
    one = op.constant(np.float32(1))
    save("huge_output", [result(op.broadcast(one, shape), "y")], [shape])


def huge_static():
    x = parameter([1, 1], "x")
    shape = op.constant(np.array([1, 1 << 30], np.int64))
    save("huge_static", [result(op.broadcast(x, shape), "y")], [x])


def slow():
    """A hundred products of matrices, between which it can be interrupted."""
    products("slow", parameter([-1, -1], "x"))
    products("slow_fixed", parameter([500, 500], "x"))


def products(name, x):
    y = x
    for _ in range(100):
        y = op.tanh(op.matmul(y, x, False, False))
    save(name, [result(op.reduce_sum(y, op.constant(np.array([0, 1], np.int64))), "y")], [x])


def loop():
    """A loop that ends only where its caller says so: the condition is always true, the count an input."""
    count = parameter([], "count", np.int64)
    x = parameter([1], "x")
    body_x = op.parameter([1], np.float32)
    body_y = op.add(body_x, op.constant(np.array([1], np.float32)))
    go_on = op.constant(np.array([True]))
    body = ov.Model([body_y, go_on], [body_x], "body")
    node = op.loop(count, op.constant(np.array([True])))
    node.set_function(body)
    node.set_special_body_ports([-1, 1])
    node.set_merged_input(body_x, x.output(0), body_y.output(0))
    out = node.get_iter_value(body_y.output(0), -1)
    save("loop", [result(out.get_node().output(0), "y")], [count, x])


def iterator():
    """y[i] = the sum of x[0..i], one step for each row."""
    x = parameter([-1, 1], "x")
    row, sum_in = op.parameter([1, 1], np.float32), op.parameter([1, 1], np.float32)
    sum_out = op.add(row, sum_in)
    body = ov.Model([sum_out], [row, sum_in], "body")
    node = op.tensor_iterator()
    node.set_function(body)
    node.set_sliced_input(row, x.output(0), 0, 1, 1, -1, 0)
    node.set_merged_input(sum_in, op.constant(np.zeros([1, 1], np.float32)).output(0), sum_out.output(0))
    out = node.get_concatenated_slices(sum_out.output(0), 0, 1, 1, -1, 0)
    save("iterator", [result(out.get_node().output(0), "y")], [x])


def total(name, shape):
    """y = the sum of all x so far, which the model keeps as its state."""
    x = parameter(shape, "x")
    nothing = op.multiply(x, op.constant(np.float32(0)))
    sum_of_all = op.add(op.read_value(nothing, "total", np.float32, ov.PartialShape(shape)), x)
    save(name, [result(sum_of_all, "y")], [x], [op.assign(sum_of_all, "total")])


def main():
    for name in TYPES:
        identity(f"identity_{'bool' if name == 'boolean' else name}", [2, 3], getattr(ov.Type, name))
    identity("identity_scalar", [], ov.Type.f32)
    identity("identity_empty", [0, 3], ov.Type.f32)
    for make in (mean, relu, dynamic, any_rank, bounded, nonzero, two_in_two_out, unnamed, passed_on, matmul, strings):
        make()
    for make in (huge_output, huge_static, slow, loop, iterator):
        make()
    total("total", [1, 4])
    total("total_open", [-1, 4])


if __name__ == "__main__":
    main()
