"""Frameworks on a GPU, through the whole stack: guests against the framework called directly there, and against the CPU.

Variables are those of frameworks.py; and WASINN_TARGET: `gpu`, or `cpu` for what can be tested without one, which is the default. scripts/gpu_test.sh sets them."""

import array
import json
import math
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import unittest

from frameworks import API, BUILD, CHOSEN, FOLDERS, HIDDEN, SOURCE, WAIT

TARGET = os.environ.get("WASINN_TARGET", "cpu")
ON_GPU = TARGET == "gpu"

TENSORS = 20
# The same kernels on the same device, of which cuDNN may choose others each time. On the CPU the bytes are the same.
OF_ONE_DEVICE = 1e-3 if ON_GPU else 0
# Values here are at most 1. GPUs multiply f32 with 10 bits of mantissa (TF32) by default, and add up in another order.
OF_TWO_DEVICES = 1e-2
# Vulkan's multiply with all of it.
BETWEEN_WORKERS = {"cuda": OF_TWO_DEVICES, "vulkan": 1e-4}[API]
PROMPT, CONTINUED = b"GNU General Public", b" License"

BY_BYTES, F32, U8 = 5, 1, 3  # an encoding (the model's bytes show it) and a type, as wasi-nn numbers them
RUNTIME_ERROR, UNSUPPORTED_OPERATION = 5, 6
NUMBER_OF = {"cpu": 0, "gpu": 1, "auto": 3}  # targets


class GpuCase:
    framework = None

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="wasinn-gpu-"))
        self.addCleanup(shutil.rmtree, self.dir)

    # Computes on random tensors or on a text.

    def inputs(self, model):
        """(type, shape, bytes)"""
        shape = self.framework.models[model]
        if not shape:
            return "u8", (len(PROMPT),), PROMPT
        numbers = random.Random(model)
        return "f32", shape, array.array("f", (numbers.random() for _ in range(math.prod(shape) * TENSORS))).tobytes()

    def run_program(self, *command, env=None):
        env = {**self.framework.environment(), "XDG_CACHE_HOME": str(BUILD / "guests" / "cache"), **(env or {})}
        return subprocess.run([str(word) for word in command], env=env, cwd=self.dir, capture_output=True, text=True, timeout=WAIT)

    def infer(self, model, run):
        """The output of `run`, with the arguments that the guest "infer" and the program "reference" share."""
        kind, shape, data = self.inputs(model)
        (self.dir / "inputs").write_bytes(data)
        done = run(kind, ",".join(map(str, shape)))
        self.assertEqual(done.returncode, 0, done)
        outputs = (self.dir / "outputs").read_bytes()
        self.assertNotEqual(outputs, b"", done)
        return outputs

    def guest(self, model, target, env=None, loads="name:model"):
        settings = self.write(self.framework.settings(model, target))
        return self.infer(model, lambda kind, shape: self.run_program(
            BUILD / "bin" / "wasinn", "run", "--config", settings, "--dir", f"{self.dir}::/files", "--dir", f"{SOURCE}::/source:ro",
            BUILD / "guests" / "infer-witx.wasm", kind, shape, "/files/inputs", "/files/outputs", "image", "out", loads, env=env))

    def native(self, model):
        program = BUILD / "bin" / f"reference_{self.framework.name}"
        env = {"WASINN_TEST_LIBRARY": str(self.framework.found()[1])} if FOLDERS else {}
        env.update({"WASINN_TEST_ON_GPU": "1"} if ON_GPU else HIDDEN)
        return self.infer(model, lambda kind, shape: self.run_program(
            program, kind, shape, "inputs", "outputs", "image", "out", SOURCE / model, env=env))

    def write(self, settings):
        (self.dir / "host.toml").write_text(settings)
        return "host.toml"

    def check_close(self, found, expected, tolerance):
        if tolerance == 0 or self.framework.name == "llama":
            self.assertEqual(found, expected)
            return
        found, expected = array.array("f", found), array.array("f", expected)
        self.assertEqual(len(found), len(expected))
        far = [(a, b) for a, b in zip(found, expected) if not abs(a - b) <= tolerance]
        self.assertEqual(far, [], f"not within {tolerance}")

    # Single calls of a guest, and what the host says of them.

    def steps(self, settings, *lines, env=None):
        """(errno, bytes) of each line, and stderr"""
        (self.dir / "script").write_text("\n".join(lines) + "\n")
        done = self.run_program(BUILD / "bin" / "wasinn", "run", "--config", self.write(settings), "--dir", f"{self.dir}::/files",
                                "--dir", f"{SOURCE}::/source:ro", BUILD / "guests" / "steps.wasm", "/files/script", env=env)
        self.assertEqual(done.returncode, 0, done)
        answers = [line.split() for line in done.stdout.splitlines()]
        return [(int(error), bytes.fromhex(text.strip("-"))) for error, _, text in answers], done.stderr

    def load(self, target, env=None, **settings):
        """(errno, device, stderr)"""
        settings = self.framework.settings(next(iter(self.framework.models)), target, **settings)
        (loaded, described), said = self.steps(settings, "name 0 model", "describe 0", env=env)
        return loaded[0], json.loads(described[1])["model"]["device"] if loaded[0] == 0 else None, said

    def check_missing(self, *args, **more):
        error, _, said = self.load(*args, **more)
        self.assertIn(error, (RUNTIME_ERROR, UNSUPPORTED_OPERATION), said)
        self.assertRegex(said, self.framework.missing)

    def test_a_guest_gets_what_the_framework_gives(self):
        for model in self.framework.models:
            with self.subTest(model):
                self.check_close(self.guest(model, TARGET), self.native(model), OF_ONE_DEVICE)

    def test_the_cpu_gives_the_same(self):
        for model in self.framework.models:
            with self.subTest(model):
                found, expected = self.guest(model, TARGET), self.guest(model, "cpu", env=HIDDEN)
                if self.framework.name == "llama":  # tokens of nearly the same probability may change places
                    self.assertTrue(found.startswith(CONTINUED) and expected.startswith(CONTINUED), (found, expected))
                else:
                    self.check_close(found, expected, OF_TWO_DEVICES)

    def test_what_guests_bring_computes_on_the_cpu(self):
        for model in self.framework.models:
            with self.subTest(model):
                if self.framework.name == "llama":  # which says something else each time: such a model has no settings
                    answers, said = self.steps(self.framework.settings(model, TARGET), f"load 0 /source/{model} {BY_BYTES}", "context 0 0",
                                               f"set 0 0 {U8} {len(PROMPT)} {PROMPT.hex()}", "single 0")
                    self.assertEqual([error for error, _ in answers], [0] * 4, said)
                else:
                    found = self.guest(model, TARGET, loads=f"bytes:{BY_BYTES}:/source/{model}")
                    self.check_close(found, self.guest(model, "cpu", env=HIDDEN), 0)

    # A guest's own models, on the devices of a worker.

    def bring(self, model, target, env=None, **settings):
        """(device and output, or the error, of a model that a guest brings for this target; stderr)"""
        kind, shape, data = self.inputs(model)
        (self.dir / "inputs").write_bytes(data[: 4 * math.prod(shape)] if kind == "f32" else data)
        compute = ("compute 0", "get 0 0") if kind == "f32" else ("single 0", "piece 0 0")
        answers, said = self.steps(
            self.framework.settings(model, "cpu", **settings), f"load 0 /source/{model} {BY_BYTES} {NUMBER_OF[target]}", "describe 0",
            "context 0 0", f"setfile 0 0 {F32 if kind == 'f32' else U8} {','.join(map(str, shape))} /files/inputs", *compute, env=env)
        error = next((error for error, _ in answers if error != 0), 0)
        return error or (json.loads(answers[1][1])["model"]["device"], answers[-1][1]), said

    def test_what_guests_bring_computes_on_the_gpu_if_the_policy_says_so(self):
        for model in self.framework.models:
            for target in (TARGET, "auto"):
                with self.subTest(model, target=target):
                    found, said = self.bring(model, target, isolated_gpu=True)
                    self.assertIsInstance(found, tuple, said)
                    self.assertEqual(found[0], self.framework.device if ON_GPU else "cpu", said)
                    self.assertNotIn("using the CPU instead", said)
                    expected, said = self.bring(model, "cpu", isolated_gpu=True)
                    self.assertEqual(expected[0], "cpu", said)
                    if self.framework.name != "llama":  # which says something else each time
                        self.check_close(found[1], expected[1], BETWEEN_WORKERS if ON_GPU else 0)

    def test_the_error_for_guests_models_names_the_policy(self):
        model = next(iter(self.framework.models))
        error, said = self.bring(model, "gpu")
        self.assertIn(error, (RUNTIME_ERROR, UNSUPPORTED_OPERATION), said)
        self.assertIn("; models in workers can only use the CPU, unless policy.isolated_gpu is true", said)
        found, said = self.bring(model, "gpu", cpu_fallback=True)
        self.assertEqual(found[0], "cpu", said)
        self.assertEqual(len(re.findall("using the CPU instead: ", said)), 1, said)

    def test_what_guests_bring_finds_no_gpu_that_is_not_there(self):
        model = next(iter(self.framework.models))
        error, said = self.bring(model, "gpu", env=HIDDEN, isolated_gpu=True)
        self.assertIn(error, (RUNTIME_ERROR, UNSUPPORTED_OPERATION), said)
        self.assertRegex(said, self.framework.missing)
        found, said = self.bring(model, "gpu", env=HIDDEN, isolated_gpu=True, cpu_fallback=True)
        self.assertEqual(found[0], "cpu", said)

    def test_describe_names_the_device(self):
        expected = self.framework.device if ON_GPU else "cpu"
        for target in (TARGET, "auto"):
            error, device, said = self.load(target)
            self.assertEqual((error, device), (0, expected), said)

    def test_between_two_models_tensors_stay_on_the_gpu(self):
        """One after the other in a pipeline: the same numbers as when they come over the CPU's memory."""
        if not self.framework.memory or not ON_GPU:
            return
        values = array.array("f", (number / 7 - 9 for number in range(3 * 224 * 224))).tobytes()
        model = "tests/models/tiny/relu.onnx"
        step = "{model_name = 'model', input_map = {'0' = 'a'}, output_map = {'0' = 'b'}}, {model_name = 'model', input_map = {'0' = 'b'}, output_map = {'0' = 'c'}}"
        settings = self.framework.settings(model, TARGET) + f"[models.row]\nstep = [{step}]\n"
        (self.dir / "inputs").write_bytes(values)
        answers, said = self.steps(settings, "name 0 row", "describe 0", "context 0 0", f"setfile 0 0 {F32} 1,3,224,224 /files/inputs",
                                   "compute 0", "getfile 0 0 /files/outputs")
        self.assertEqual([error for error, _ in answers], [0] * 6, said)
        described = answers[1]
        kept = json.loads(described[1])["model"]["step"][0]
        self.assertEqual((kept.get("kept"), kept.get("memory")), (["b"], self.framework.memory), kept)
        expected = array.array("f", (max(value, 0) for value in array.array("f", values)))
        self.assertEqual((self.dir / "outputs").read_bytes(), expected.tobytes())

    def test_a_gpu_that_is_not_there_is_an_error(self):
        self.check_missing("gpu", env=HIDDEN)
        if self.framework.not_there:  # instead of the target, whatever the policy says
            self.check_missing("auto", cpu_fallback=True, config=self.framework.not_there)

    def test_a_host_without_its_gpu_ends_well(self):
        """ONNX Runtime crashed when its environment ended after WebGPU had found no device."""
        for target, fallback in (("gpu", False), ("gpu", True), ("auto", False)):
            settings = self.write(self.framework.settings(next(iter(self.framework.models)), target, cpu_fallback=fallback))
            done = self.run_program(BUILD / "bin" / "wasinn", "inspect", "--config", settings, "model", env=HIDDEN)
            self.assertEqual(done.returncode == 0, fallback or target == "auto", done)
            self.assertGreaterEqual(done.returncode, 0, done)

    def test_or_the_cpu_where_the_policy_says_so(self):
        for target, fallback in (("gpu", True), ("auto", False)):
            error, device, said = self.load(target, cpu_fallback=fallback, env=HIDDEN)
            self.assertEqual((error, device), (0, "cpu"), said)
            if fallback:
                self.assertEqual(len(re.findall("using the CPU instead: ", said)), 1, said)

    # An ordinary build runs them with the framework that it was made with.
    if FOLDERS:
        def test_the_backend_s_own_tests_pass_with_this_library(self):
            without = "" if ON_GPU else self.framework.not_its_tests
            program = BUILD / "bin" / f"{self.framework.name}_backend_test"
            env = {"WASINN_TEST_LIBRARY": str(self.framework.found()[1])}
            done = self.run_program(program, "--gtest_brief=1", f"--gtest_filter=-{without}", env=env)
            self.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr[-2000:])


def load_tests(loader, _tests, _pattern):
    cases = (type(framework.name, (GpuCase, unittest.TestCase), {"framework": framework}) for framework in CHOSEN)
    return unittest.TestSuite(map(loader.loadTestsFromTestCase, cases))
