"""wasi-nn as a native library of iwasm: through iwasm-nn, which loads libraries as iwasm does, and through the protocol itself."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["WASINN_SOURCE"])
BUILD = pathlib.Path(os.environ["WASINN_BUILD"])
LIBRARY = BUILD / "lib" / "libwasinn_wamr.so"
TINY = SOURCE / "tests" / "models" / "tiny"
IMAGES = "/images"
MODELS = f"digits={SOURCE}/models/digits.onnx;model={TINY}/dynamic.onnx;endless={TINY}/endless.onnx"
NOT_OURS = ("WASINN_CONFIG", "WASINN_ENGINE", "WASINN_MODELS")


def run(*command, env=None, input=None):
    env = {**{name: value for name, value in os.environ.items() if name not in NOT_OURS}, **(env or {})}
    return subprocess.run([str(word) for word in command], env=env, input=input, capture_output=True, text=True)


class IwasmTest(unittest.TestCase):
    def iwasm(self, guest, *args, library=LIBRARY, flags=(), models=MODELS, env=None):
        env = {**({"WASINN_MODELS": models} if models else {}), **(env or {})}
        folder = f"--map-dir={IMAGES}::{SOURCE}/examples/classify/images"
        library = [f"--native-lib={library}"] if library else []
        return run(BUILD / "bin" / "iwasm-nn", *library, folder, *flags, BUILD / "guests" / f"{guest}.wasm", *args, env=env)

    def classify(self, *args, **more):
        return self.iwasm("classify", *args, f"{IMAGES}/0002_label-2.png", **more)

    def test_models_of_the_environment(self):
        done = self.classify("--raw")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stderr, "")
        native = run(BUILD / "bin" / "wasinn", "run", "--model", MODELS.split(";")[0], "--dir",
                     f"{SOURCE}/examples/classify/images::{IMAGES}", BUILD / "guests" / "classify.wasm", "--raw",
                     f"{IMAGES}/0002_label-2.png")
        self.assertEqual(done.stdout, native.stdout)

    def test_a_folder_of_models(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "digits").mkdir()
            (pathlib.Path(folder) / "digits" / "model.onnx").write_bytes((SOURCE / "models" / "digits.onnx").read_bytes())
            self.assertEqual(self.classify(models=folder).returncode, 0)

    def test_settings_of_a_file_which_the_environment_beats(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "wasinn.toml"
            file.write_text(f'[models.digits]\npath = "{SOURCE}/models/digits.onnx"\n[limits]\nmax_graphs = 0\n')
            done = self.classify(models=None, env={"WASINN_CONFIG": str(file)})
            self.assertIn("too_large", done.stderr)
            done = self.classify(models=None, env={"WASINN_CONFIG": str(file), "WASINN_NN_MAX_GRAPHS": "1"})
            self.assertEqual(done.returncode, 0, done)

    def test_settings_that_are_none(self):
        for name, value, why in (
            ("WASINN_CONFIG", "/nowhere.toml", "/nowhere.toml"),
            ("WASINN_NN_TIMEOUT", "soon", "WASINN_NN_TIMEOUT: 'soon'"),
            ("WASINN_NN_MAX_GRAPHS", "many", "max_graphs"),
            ("WASINN_NN_LOAD", "perhaps", "unknown way to load 'perhaps'"),
            ("WASINN_MODELS", "=x", "WASINN_MODELS"),
            ("WASINN_MODELS", "x=/nowhere.onnx", "/nowhere.onnx"),
        ):
            done = self.classify(env={name: value})
            self.assertEqual(done.returncode, 1, done)
            self.assertIn("wasinn: error: ", done.stderr)
            self.assertIn(why, done.stderr)

    def test_policy(self):
        folder = [f"--map-dir=/models::{SOURCE}/models"]
        self.assertEqual(self.classify("--model-file", "/models/digits.onnx", flags=folder).returncode, 0)
        done = self.classify("--model-file", "/models/digits.onnx", flags=folder, env={"WASINN_NN_LOAD": "deny"})
        self.assertIn("security", done.stderr)

    def test_a_library_of_one_framework(self):
        folder = [f"--map-dir=/models::{SOURCE}/models"]
        lib = BUILD / "lib"
        for name, works in (("onnx", True), ("tflite", False), ("openvino", False), ("torch", False), ("tensorflow", False), ("llamacpp", False)):
            library = lib / f"libwasi_nn_backend_{name}.so"
            done = self.classify("--model-file", "/models/digits.onnx", flags=folder, library=library)
            self.assertEqual(done.returncode == 0, works, done)
            if not works:
                self.assertIn("does not allow encoding onnx", done.stderr)

    def test_without_a_library_there_is_no_wasi_nn(self):
        done = self.classify(library=None)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("failed to link import function (wasi_ephemeral_nn", done.stderr)

    def test_the_protocol_and_nothing_else_is_exported(self):
        for library in sorted((BUILD / "lib").glob("libwasi_nn_backend_*.so")) + [LIBRARY]:
            lines = run("nm", "-D", "--defined-only", library).stdout.splitlines()
            self.assertEqual({line.split()[-1] for line in lines}, {"get_native_lib", "init_native_lib", "deinit_native_lib"})
            self.assertIn("NODELETE", run("readelf", "-d", library).stdout)

    def test_a_program_without_wamr(self):
        code = f"import ctypes; print(ctypes.CDLL('{LIBRARY}').init_native_lib())"
        done = run("python3", "-c", code)
        self.assertEqual(done.stdout, "-1\n", done)
        self.assertEqual(len(done.stderr.splitlines()), 1, done)
        for word in ("no WAMR 2.4", "libiwasm.so", "wasm_runtime_register_natives_raw", "wasm_memory_get_shared missing"):
            self.assertIn(word, done.stderr)

    def threads(self, guest, *how, **more):
        return self.iwasm(f"hostile-{guest}", *how, flags=["--max-threads=8"], **more)

    def test_threads_whose_first_calls_race_are_one_guest(self):
        for _ in range(5):
            done = self.threads("threads")
            self.assertEqual(done.returncode, 0, done)
            made, busy = [int(line.split()[1]) for line in done.stdout.splitlines()]
            self.assertEqual(made + busy, 20000)

    def test_a_guest_that_ends_while_it_computes(self):
        for how, code in (("trap-lpc", 1), ("exit-lpc", 7), ("return-lpc", 0)):
            self.assertEqual(self.threads("thread_attacks", how, env={"WASINN_NN_TIMEOUT": "0"}).returncode, code, how)
