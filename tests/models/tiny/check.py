"""Runs every model of this folder in ONNX Runtime, and shows what it does with the hostile ones when nobody else looks.

Takes about 5 GiB of memory for a moment: huge_intermediate is run.
"""

import os
import pathlib
import tempfile
import threading
import time

import numpy as np
import onnxruntime

HERE = pathlib.Path(__file__).resolve().parent
NUMPY_TYPES = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "u8": np.uint8,
    "i8": np.int8,
    "u16": np.uint16,
    "i16": np.int16,
    "u32": np.uint32,
    "i32": np.int32,
    "u64": np.uint64,
    "i64": np.int64,
    "bool": np.bool_,
}


def session(name):
    return onnxruntime.InferenceSession(str(HERE / (name + ".onnx")), providers=["CPUExecutionProvider"])


def run(name, *inputs):
    s = session(name)
    # ONNX Runtime lists inputs that have a default apart from the others.
    names = [i.name for i in (*s.get_inputs(), *s.get_overridable_initializers())]
    return s.run(None, dict(zip(names, inputs)))


def same(name, inputs, *expected):
    results = run(name, *inputs)
    assert len(results) == len(expected), name
    for result, wanted in zip(results, expected):
        assert result.shape == wanted.shape and result.dtype == wanted.dtype, name
        assert np.array_equal(result, wanted), name
    print(f"ok       {name}")


def floats(*dims):
    return np.random.default_rng(1).standard_normal(dims, np.float32)


def check_identities():
    for name, element_type in NUMPY_TYPES.items():
        x = (np.arange(6).reshape(2, 3) % 2).astype(element_type)
        same(f"identity_{name}", [x], x)
    # numpy has no bf16: its bits travel as u16 in a value that says what they are.
    bits = np.arange(6, dtype=np.uint16).reshape(2, 3)
    bf16 = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, 16)
    (y,) = session("identity_bf16").run_with_ort_values(None, {"x": bf16})
    assert y.data_type() == "tensor(bfloat16)" and y.shape() == [2, 3]
    print("ok       identity_bf16")
    words = np.array([["a", "bc", ""], ["d", "e", "f"]], dtype=object)
    same("identity_string", [words], words)
    same("identity_scalar", [np.array(2.5, np.float32)], np.array(2.5, np.float32))
    same("identity_empty", [np.zeros((0, 3), np.float32)], np.zeros((0, 3), np.float32))


def check_shapes():
    x = floats(1, 3, 224, 224)
    same("relu", [x], np.maximum(x, 0))
    for dims in ((2, 3), (1, 1), (0, 5), (7, 64)):
        same("dynamic", [floats(*dims)], np.maximum(floats(*dims), 0))
    (mean,) = run("mean", floats(1, 3, 8, 8))
    assert mean.shape == (1, 3) and np.allclose(mean, floats(1, 3, 8, 8).mean(axis=(2, 3)), atol=1e-6)
    print("ok       mean")
    (mean,) = run("mean_large", floats(1, 3, 224, 224))
    assert mean.shape == (1, 3) and np.allclose(mean, floats(1, 3, 224, 224).mean(axis=(2, 3)), atol=1e-6)
    print("ok       mean_large")
    x = np.array([[0, 1, 0], [2, 0, 3]], np.float32)
    same("nonzero", [x], np.array(np.nonzero(x), np.int64))
    a, b = floats(2, 2), floats(2, 2) * 3
    same("two_in_two_out", [a, b], a - b, a + b)
    x = np.array([1, 2], np.float32)
    same("optional_input", [x], np.array([11, 22], np.float32))
    same("optional_input", [x, x], x + x)
    same("external", [np.zeros(4, np.float32)], np.array([1, 2, 3, 4], np.float32))
    same("huge_output", [np.array([2, 3], np.int64)], np.ones((2, 3), np.float32))
    (parts,) = run("sequence_output", floats(2, 3))
    (joined,) = run("sequence_input", parts)
    assert len(parts) == 2 and np.array_equal(joined, floats(2, 3))
    print("ok       sequence_output, sequence_input")


def check_extremes():
    (declared,) = session("huge_static").get_outputs()
    assert declared.shape == [1, 2**30]
    print("ok       huge_static (not run)")
    same("huge_intermediate", [np.array([3], np.float32)], np.array(3, np.float32))
    s = session("endless")
    options = onnxruntime.RunOptions()

    def stop():
        options.terminate = True

    begin = time.monotonic()
    threading.Timer(1.0, stop).start()
    try:
        s.run(None, {"x": np.zeros(1, np.float32)}, options)
        raise AssertionError("endless came to an end")
    except onnxruntime.capi.onnxruntime_pybind11_state.Fail as error:
        assert "terminate" in str(error), error
    print(f"ok       endless (cancelled after 1 s, back after {time.monotonic() - begin:.2f} s)")


def outcome(model):
    try:
        s = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        (y,) = s.run(None, {i.name: np.array(True) for i in s.get_inputs()})
    except Exception as error:
        return "refused", str(error).replace("\n", " ")[-90:].strip()
    return "READ", y.tobytes()


def show_hostile():
    """From bytes, in a working directory with a secret.txt: what the framework alone would do."""
    for path in sorted((HERE / "hostile").glob("*.onnx")):
        what, detail = outcome(path.read_bytes())
        print(f"{what:8} {path.stem}: {detail}")
        assert (what == "READ") == path.stem.startswith("place_"), path


def main():
    onnxruntime.set_default_logger_severity(4)
    check_identities()
    check_shapes()
    check_extremes()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("secret.txt").write_text("secret")
        show_hostile()
        os.chdir(HERE)


if __name__ == "__main__":
    main()
