"""wasinn bench: the counts that it reports, and how it fails. Nothing here looks at a time.

WASINN names the command, WASINN_BENCH the program that `wasinn bench` starts, WASINN_SOURCE the source tree; WASINN_COUNTS is 0 where the build cannot count allocations."""

import json
import os
import re
import shutil
import subprocess

from bench_case import LEVEL_KEYS, SOURCE, TINY, WASINN, BenchTest

BENCH = os.environ["WASINN_BENCH"]
COUNTS = os.environ["WASINN_COUNTS"] == "1"

TORCH_MODELS = SOURCE / "tests/models/torch"
DIGITS = SOURCE / "models/digits.onnx"

KEYS = {
    "model", "framework", "engine", "abi", "threads", "guests", "cpus", "seconds", "iterations", "load_average", "input_bytes", "output_bytes",
    "p50_us", "p90_us", "p99_us", "difference_us", "empty_call_us", "loop_us", "loop_p90_us", "loop_p99_us", "per_s", "per_s_ratio", "concurrency",
    "bytes_copied", "copies", "allocations", "allocations_of", "outputs_equal",
}  # fmt: skip


class StartTest(BenchTest):
    def test_every_argument_reaches_the_program(self):
        for args in (["--help"], ["--version"], ["--", "nowhere.onnx"], ["--json", "--pin", "0,1", "nowhere.onnx"], []):
            with self.subTest(args=args):
                direct = subprocess.run([BENCH, *args], cwd=self.dir, capture_output=True, text=True, timeout=300)
                self.assertEqual(self.bench(*args), (direct.returncode, direct.stdout, direct.stderr))
        self.assertIn("Usage: wasinn-bench [OPTIONS] MODEL", self.bench("--help")[1])
        listed = subprocess.run([WASINN, "--help"], capture_output=True, text=True, check=True).stdout
        self.assertIn("\n  bench ", listed)

    def test_it_is_started_from_beside_the_command_alone(self):
        # Those of the working folder and PATH would answer.
        other = self.dir / "wasinn-bench"
        other.write_text("#!/bin/sh\necho started\n")
        other.chmod(0o755)
        command = self.dir / "bin/wasinn"
        command.parent.mkdir()
        shutil.copy(WASINN, command)
        link = self.dir / "wasinn"  # beside which one would answer too
        link.symlink_to(command)
        env = {**os.environ, "PATH": f"{self.dir}:{os.environ['PATH']}"}
        for words in ([command], ["wasinn"], [link]):
            with self.subTest(words=words):
                done = subprocess.run([*words, "bench", "mean.onnx"], cwd=self.dir, env=env, capture_output=True, text=True, timeout=300)
                self.assertEqual((done.returncode, done.stdout), (125, ""))
                self.assertIn(f"there is no {command.parent}/wasinn-bench; to get it: where wasinn was built, cmake --build", done.stderr)
        beside = command.with_name("wasinn-bench")
        beside.write_text("#!/bin/sh\necho beside \"$@\"\n")
        beside.chmod(0o755)
        done = subprocess.run(["wasinn", "bench", "--json", "a b"], cwd=self.dir, env=env, capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "beside --json a b\n", ""))


class CountsTest(BenchTest):
    def check_counts(self, model, input_bytes, output_bytes, copies=2):
        report = self.report(model)
        self.assertEqual((report["input_bytes"], report["output_bytes"]), (input_bytes, output_bytes))
        self.assertEqual(report["bytes_copied"], input_bytes + output_bytes)
        self.assertEqual(report["copies"], copies)
        self.assertTrue(report["outputs_equal"])
        if not COUNTS:
            self.assertIsNone(report["allocations"])
        return report["allocations"]

    def test_fixed_shapes(self):
        for model, sizes, copies in (("relu", (602112, 602112), 2), ("two_in_two_out", (32, 32), 4)):
            with self.subTest(model):
                allocations = self.check_counts(TINY / f"{model}.onnx", *sizes, copies=copies)
                if COUNTS:
                    self.assertEqual(allocations, 0)

    def test_intermediate_values(self):
        # Fewer than natively: for the values between two nodes ONNX Runtime's own allocator allocates more than ours.
        allocations = self.check_counts(TINY / "mean.onnx", 768, 12)
        if COUNTS:
            self.assertLessEqual(allocations, 0)

    def test_open_batch(self):
        # The output's shape is open, so ONNX Runtime allocates it at each compute, which it does not do for the buffer that the
        # native side binds.
        self.check_counts(DIGITS, 256, 40)

    def test_shape(self):
        report = self.report("--shape", "x=3x5", TINY / "dynamic.onnx")
        self.assertEqual((report["input_bytes"], report["bytes_copied"]), (60, 120))


class TorchTest(BenchTest):
    """PyTorch natively comes from a library of its own, which not every build has."""

    def check_counts(self, model, shape, input_bytes, output_bytes, copies=2):
        report = self.report(TORCH_MODELS / model, "--shape", shape)
        self.assertEqual((report["input_bytes"], report["output_bytes"]), (input_bytes, output_bytes))
        self.assertEqual((report["bytes_copied"], report["copies"]), (input_bytes + output_bytes, copies))
        self.assertTrue(report["outputs_equal"])
        self.assertIn("PyTorch", report["framework"])
        if COUNTS:
            self.assertLessEqual(report["allocations"], 0)

    def test_tensors(self):
        self.check_counts("relu.pt", "x=1x3x224x224", 602112, 602112)
        self.check_counts("mean.pt", "image=1x3x8x8", 768, 12)

    def test_nested_results_of_several_types_and_arguments_that_are_numbers(self):
        report = self.report(TORCH_MODELS / "parts.pt", "--shape", "x=4x6")
        self.assertEqual((report["input_bytes"], report["output_bytes"]), (96 + 8, 96 + 48 + 24 + 24))
        self.assertEqual(report["bytes_copied"], report["input_bytes"] + report["output_bytes"])
        self.assertTrue(report["outputs_equal"])

    def test_errors(self):
        self.check_error("--shape x=", TORCH_MODELS / "relu.pt")
        self.check_error("PyTorch: ", "--shape", "image=2x2", TORCH_MODELS / "mean.pt")

    def test_the_program_is_not_linked_to_pytorch(self):
        needed = subprocess.run(["ldd", BENCH], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("libtorch", needed)


class ComponentTest(BenchTest):
    """Needs a Wasmtime that serves wasi:nn to components."""

    def test_copies_once_each_way(self):
        for abi in ("wit", "wit-0.3"):
            report = self.report("--abi", abi, TINY / "two_in_two_out.onnx")
            self.assertEqual(report["bytes_copied"], report["input_bytes"] + report["output_bytes"])
            self.assertEqual((report["abi"], report["copies"]), (abi, 4))
            self.assertTrue(report["outputs_equal"])

    def test_allocations_do_not_grow(self):
        # Most of these allocations are the engine's; the tensors' own memory is not among them.
        allocations = self.report("--abi", "wit", TINY / "relu.onnx", iterations=20)["allocations"]
        if COUNTS:
            self.assertLessEqual(allocations, 14)


class WithoutComponentsTest(BenchTest):
    """If Wasmtime has no components."""

    def test_without_the_library(self):
        self.check_error("scripts/deps.sh wasmtime-component", "--abi", "wit", TINY / "mean.onnx")


class OutputTest(BenchTest):
    def test_json(self):
        report = self.report("--guests", 2, TINY / "mean.onnx", iterations=7)
        self.assertEqual(set(report), KEYS)
        self.assertEqual(set(report["p50_us"]), {"native", "native_copy", "guest"})
        self.assertEqual(set(report["p90_us"]), {"native", "native_copy", "guest"})
        self.assertEqual(set(report["p99_us"]), {"native", "native_copy", "guest"})
        self.assertEqual(set(report["per_s"]), {"native", "guest"})
        self.assertEqual(set(report["allocations_of"]), {"native", "guest"})
        self.assertEqual((report["guests"], report["iterations"], report["seconds"]), (2, 7, None))
        self.assertEqual(report["threads"], 1)
        self.assertEqual((report["engine"], report["abi"]), ("wasmtime", "witx"))
        self.assertIn("ONNX Runtime", report["framework"])

    def test_documented(self):
        text = (SOURCE / "bench/README.md").read_text()
        documented = re.findall(r"^\| `([a-z0-9_]+)` \|", text, re.MULTILINE)
        self.assertEqual(set(documented), KEYS | LEVEL_KEYS)

    def test_table(self):
        code, out, err = self.bench("--iterations", 5, "--pin", 0, TINY / "mean.onnx")
        self.assertEqual((code, err), (0, ""))
        for text in ("pinned to CPU 0", "p50 us  p90 us  p99 us", "compute_infer", "native, bound buffers", "native, one memcpy each way", "guest", "1 guest, one graph",
                     "780 bytes copied in 2 copies", "allocation"):
            self.assertIn(text, out)

    def test_seconds(self):
        code, out, err = self.bench("--seconds", 0.1, "--json", TINY / "mean.onnx")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(json.loads(out)["seconds"], 0.1)

    def test_folder_and_name(self):
        folder = self.dir / "models/m"
        folder.mkdir(parents=True)
        shutil.copy(TINY / "mean.onnx", folder / "model.onnx")
        self.assertEqual(self.report(folder)["bytes_copied"], 780)
        self.assertEqual(self.report("m", "--models", self.dir / "models")["bytes_copied"], 780)


class ErrorTest(BenchTest):
    def test_models(self):
        self.check_error("nowhere.onnx is neither a file nor a folder nor the name of a model", "nowhere.onnx")
        (self.dir / "noise.onnx").write_bytes(bytes(range(256)))
        self.check_error("not an ONNX model", "noise.onnx")
        (self.dir / "empty").mkdir()
        self.check_error("holds no model", "empty")
        self.check_error("seq(", TINY / "sequence_output.onnx")
        self.check_error("seq(", TINY / "sequence_input.onnx")
        self.check_error("string", TINY / "identity_string.onnx")

    def test_flags(self):
        self.check_error("MODEL is required", code=2)
        self.check_error("'x=' takes [-1, -1]".replace("'x='", "'x'"), "--shape", "x=1", TINY / "dynamic.onnx")
        self.check_error("no input 'z'", "--shape", "z=1", TINY / "dynamic.onnx")
        self.check_error("is not NAME=DIMxDIM", "--shape", "x=1xy", TINY / "dynamic.onnx", code=2)
        self.check_error("more than a guest can hold", "--shape", "x=65536x65536", TINY / "dynamic.onnx")
        self.check_error("cannot pin to CPU 1023", "--pin", 1023, TINY / "mean.onnx")
        for wrong in ("0", "x", "3:1", "1:2:0", "1:2:1:1", "1:", "-1", "1025", "1:99999999999999999999"):
            with self.subTest(wrong):
                self.check_error(f"'{wrong}' is not N or START:END[:STEP] of numbers from 1 to 1024", f"--concurrency={wrong}", TINY / "mean.onnx", code=2)
        self.check_error("'nothing' is not wasmtime or wamr", "--engine", "wasmtime,nothing", TINY / "mean.onnx", code=2)
        result = self.bench("--seconds", 1, "--iterations", 1, TINY / "mean.onnx")
        self.assertEqual(result[0], 2, result)
