"""Guests as native code of WAMR's compiler: what it takes to run them, and how they end. `wamr.aot.*` are the suites that they run."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["WASINN_SOURCE"])
BUILD = pathlib.Path(os.environ["WASINN_BUILD"])
COMPILED = BUILD / "guests" / "wamr-aot"
COMPILER = os.environ["WAMR_COMPILER"]
IMAGE = "/images/0002_label-2.png"
IMAGES = f"{SOURCE}/examples/classify/images"
TINY = SOURCE / "tests" / "models" / "tiny"
MODELS = {"digits": SOURCE / "models" / "digits.onnx", "model": TINY / "dynamic.onnx", "endless": TINY / "endless.onnx"}
NOT_OURS = ("WASINN_CONFIG", "WASINN_ENGINE", "WASINN_MODELS")


def run(*command, env=None):
    env = {**{name: value for name, value in os.environ.items() if name not in NOT_OURS}, **(env or {})}
    return subprocess.run([str(word) for word in command], env=env, capture_output=True, text=True)


class AotTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compile(self, guest, *flags):
        """A guest of the build's as an .aot file."""
        file = self.folder / f"{guest}.aot"
        done = run(COMPILER, *flags, "-o", file, BUILD / "guests" / f"{guest}.wasm")
        self.assertEqual(done.returncode, 0, done)
        return file

    def wasinn(self, file, *args, flags=("--allow-precompiled",), engine="wamr"):
        models = [word for name, path in MODELS.items() for word in ("--model", f"{name}={path}")]
        return run(BUILD / "bin" / "wasinn", "run", "--engine", engine, *flags, "--nn-timeout", "0", *models, "--dir", f"{IMAGES}::/images",
                   file, *args)

    def check_error(self, done, text):
        self.assertEqual((done.returncode, done.stdout), (125, ""), done)
        self.assertTrue(done.stderr.startswith("wasinn: error: "), done)
        self.assertEqual(len(done.stderr.splitlines()), 1, done)
        self.assertIn(text, done.stderr)


class RunTest(AotTest):
    def test_the_results_are_the_interpreters_and_wasmtimes(self):
        module = BUILD / "guests" / "classify.wasm"
        compiled = self.wasinn(COMPILED / "classify.wasm", "--raw", IMAGE)
        self.assertEqual((compiled.returncode, compiled.stderr), (0, ""), compiled)
        self.assertEqual(len(compiled.stdout.splitlines()), 1)
        for engine in ("wamr", "wasmtime"):
            self.assertEqual(self.wasinn(module, "--raw", IMAGE, flags=(), engine=engine).stdout, compiled.stdout)

    def test_it_wants_to_be_allowed(self):
        self.check_error(self.wasinn(self.compile("cli-probe"), flags=()), "no sandbox confines: --allow-precompiled runs it")

    def test_code_of_another_machine(self):
        other = "x86_64" if os.uname().machine == "aarch64" else "aarch64"
        self.check_error(self.wasinn(self.compile("cli-probe", f"--target={other}")), f"but got {other}")

    def test_files_that_are_cut_off(self):
        file = self.compile("hostile-threads", "--enable-multi-thread")
        whole = file.read_bytes()
        for size in [*range(8, 200, 24), *range(200, len(whole), len(whole) // 20), len(whole) - 1]:
            file.write_bytes(whole[:size])
            self.check_error(self.wasinn(file), "AOT module load failed: ")

    def test_what_cannot_be_compiled(self):
        text = self.folder / "text.wasm"
        for content, why in ((None, "cannot be read"), (b"", "or is empty"), (b"(module)", "magic header not detected"), (b"\0asm\1\0\0\0\xff\xff", "invalid section id")):
            if content is not None:
                text.write_bytes(content)
            done = run(COMPILER, "-o", self.folder / "out.aot", text)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn(why, done.stderr)
            self.assertFalse((self.folder / "out.aot").exists())
        self.assertEqual(run(COMPILER, "--opt-level=4", "-o", "x", "y").returncode, 2)


class LimitsTest(AotTest):
    # (module (memory (export "memory") 3) (func (export "_start") (loop (br 0)))), or with a memory 3 3 shared
    MEMORY = {False: b"\5\3\1\0\3", True: b"\5\4\1\3\3\3"}
    ENDLESS = (b"\0asm\1\0\0\0" b"\1\4\1\x60\0\0" b"\3\2\1\0" b"MEMORY" b"\7\x13\2\6memory\2\0\6_start\0\0"
               b"\x0a\x09\1\7\0\3\x40\x0c\0\x0b\x0b")

    def compile_endless(self, *flags, shared=False):
        (self.folder / "endless.wasm").write_bytes(self.ENDLESS.replace(b"MEMORY", self.MEMORY[shared]))
        done = run(COMPILER, *flags, "-o", self.folder / "endless.aot", self.folder / "endless.wasm")
        self.assertEqual(done.returncode, 0, done)
        return self.folder / "endless.aot"

    def test_endless_loops(self):
        # Compiled code checks for its end only if another thread could set it: not with a memory of its own.
        for flags, shared, words in ((["--enable-multi-thread"], True, "limits.run_timeout_ms"), ([], False, "this process ends")):
            done = self.wasinn(self.compile_endless(*flags, shared=shared), flags=("--allow-precompiled", "--timeout", "200ms"))
            self.assertEqual(done.returncode, 124, done)
            self.assertIn(words, done.stderr)

    def test_memory(self):
        file = self.compile_endless("--enable-multi-thread")
        self.check_error(self.wasinn(file, flags=("--allow-precompiled", "--max-memory", "128K")), "begins with a memory over the limit")
        done = self.wasinn(file, flags=("--allow-precompiled", "--max-memory", "192K", "--timeout", "200ms"))
        self.assertEqual(done.returncode, 124, done)


class EndsTest(AotTest):
    def check_traps(self, file, overflow, backtrace):
        for how, why in {"trap": "unreachable", "bounds": "out of bounds memory access", "recursion": overflow}.items():
            done = self.wasinn(file, how)
            self.assertEqual(done.returncode, 134, done)
            self.assertRegex(done.stderr, rf"(?m)^wasinn: error: .*cli-probe.aot: wasm trap: {why}\nwasm backtrace:\n", done)
            self.assertRegex(done.stderr, backtrace)

    def test_without_call_stacks(self):
        self.check_traps(self.compile("cli-probe"), "native stack overflow", r"cli-probe.aot!_start$")

    def test_with_checks_by_code(self):
        self.check_traps(self.compile("cli-probe", "--bounds-checks=1", "--enable-dump-call-stack"), ".* overflow", r"\n +1: ")

    def test_threads_that_nothing_could_end(self):
        for guest in ("hostile-threads", "hostile-thread_attacks"):
            self.check_error(self.wasinn(self.compile(guest)), "nothing could end its threads: compile it with wamrc --enable-multi-thread")


class IwasmTest(AotTest):
    """The same code under iwasm, with wasi-nn as a native library."""

    def iwasm(self, file, *args, flags=()):
        env = {"WASINN_MODELS": ";".join(f"{name}={path}" for name, path in MODELS.items()), "WASINN_NN_TIMEOUT": "0"}
        return run(BUILD / "bin" / "iwasm-nn", f"--native-lib={BUILD}/lib/libwasinn_wamr.so", f"--map-dir=/images::{IMAGES}", *flags, file, *args, env=env)

    def test_digits(self):
        done = self.iwasm(COMPILED / "classify.wasm", "--raw", IMAGE)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout, self.iwasm(BUILD / "guests" / "classify.wasm", "--raw", IMAGE).stdout)

    def test_threads(self):
        done = self.iwasm(self.compile("hostile-threads", "--enable-multi-thread"), flags=["--max-threads=8"])
        self.assertEqual(done.returncode, 0, done)
        made, busy = [int(line.split()[1]) for line in done.stdout.splitlines()]
        self.assertEqual(made + busy, 20000)

    def test_threads_that_are_ended(self):
        file = self.compile("hostile-thread_attacks", "--enable-multi-thread")
        for how, code in (("trap-lpc", 1), ("exit-lpc", 7), ("return-lpc", 0)):
            self.assertEqual(self.iwasm(file, how, flags=["--max-threads=8"]).returncode, code, how)
