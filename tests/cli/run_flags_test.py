"""More flags of wasinn run: the output about a run, --invoke, a module from stdin, Wasmtime's flags."""

import json
import os
import pathlib
import struct
import subprocess
import unittest

from command import MODEL, PROBE, WAIT, CommandTest, until

ADD = """(module (memory (export "memory") 1) (global $ready (mut i32) (i32.const 0))
  (func (export "_initialize") (global.set $ready (i32.const 100)))
  (func (export "add") (param i32 i64) (result i32 f64)
    (i32.add (local.get 0) (global.get $ready)) (f64.convert_i64_s (local.get 1)))
  (func (export "fails") unreachable)
  (func (export "takes") (param externref)))"""
LOOP = '(module (memory (export "memory") 1) (func (export "_start") (loop $l (br $l))))'


class OutcomeTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("m.gguf", MODEL)

    def outcome(self, *args, code, flags=(), guest=PROBE, may_be_missing=False):
        (self.dir / "out.json").unlink(missing_ok=True)
        result = self.wasinn("run", "--json", "out.json", *flags, guest, *args)
        self.assertEqual(result.code, code, result)
        text = (self.dir / "out.json").read_text() if (self.dir / "out.json").exists() else ""
        if may_be_missing and not text.endswith("\n"):
            return None
        report = json.loads(text)
        self.assertEqual(report["exit_code"], code)
        return report

    def test_of_a_guest_that_computes(self):
        report = self.outcome(
            "infer", "m", "infer", "m", "infer", "none", "exit", "7", code=7, flags=["--model", "m=m.gguf"]
        )
        self.assertEqual((report["outcome"], report["engine"], report["message"]), ("exited", "wasmtime", ""))
        self.assertEqual(
            (report["computes"], report["errors"], report["input_bytes"], report["output_bytes"]), (2, 1, 48, 48)
        )
        (model,) = [model for model in report["models"] if model["name"] == "m"]
        self.assertEqual((model["version"], model["loads"], model["computes"], model["errors"]), (1, 1, 2, 0))
        self.assertGreater(model["compute_seconds"], 0)
        self.assertGreater(report["run_seconds"], model["compute_seconds"])

    def test_of_a_guests_own_model(self):
        self.assertEqual(self.outcome("load", code=0)["model_bytes"], len(MODEL))

    def test_of_what_goes_wrong(self):
        self.file("loop.wat", LOOP)
        self.assertIn("unreachable", self.outcome("trap", code=134)["message"])
        self.assertEqual(self.outcome("trap", code=134)["outcome"], "trapped")
        # On a busy machine the process may end before it has written that.
        report = until(
            lambda: self.outcome(guest="loop.wat", code=124, flags=["--timeout", "200ms"], may_be_missing=True)
        )
        self.assertEqual(report["outcome"], "interrupted")
        report = self.outcome(guest="nowhere.wasm", code=125)
        self.assertEqual((report["outcome"], report["run_seconds"]), ("failed", 0))
        self.assertIn("nowhere.wasm", report["message"])

    def test_on_stderr(self):
        result = self.run_probe("exit", "3", flags=["--json", "-"])
        self.assertEqual((result.code, json.loads(result.err)["exit_code"]), (3, 3))

    def test_a_file_that_cannot_be_written(self):
        self.check_error(self.run_probe(flags=["--json", "no/where"]), "cannot write the outcome no/where")

    def test_stats(self):
        result = self.run_probe("infer", "m", flags=["--stats", "--model", "m=m.gguf"])
        self.check(result, out="infer m errno 0")
        lines = result.err.splitlines()
        self.assertIn("exited with 0; start ", lines[1])
        self.assertIn("computes 1, bytes in 24, out 24", lines[2])
        self.assertEqual(lines[3].split(), "MODEL LOADS TIME COMPUTES TIME EACH ERRORS".split())
        self.assertEqual(lines[4].split()[:2], ["m:1", "1"])
        self.check(self.run_probe("exit", "0", flags=["--stats"]), out="", err="computes 0, ")


class InvokeTest(CommandTest):
    ENGINE, OTHER_TYPES = "wasmtime", "vraf"

    def invoke(self, name, *args, flags=()):
        self.file("lib.wat", ADD)
        return self.wasinn("run", *flags, "--invoke", name, "lib.wat", *args, env={"WASINN_ENGINE": self.ENGINE})

    def test_numbers(self):
        self.check(self.invoke("add", "-1", "-3"), out="99\n-3\n", err="")
        self.check(self.invoke("add", "4294967295", "9223372036854775807"), out="99\n9.223372036854776e+18\n", err="")

    def test_errors(self):
        self.check_error(self.invoke("add", "1"), "add takes 2 numbers, and 1 were given")
        self.check_error(self.invoke("add", "1", "x"), "'x' is not a number of type i64")
        self.check_error(self.invoke("add", "4294967296", "1"), "'4294967296' is not a number of type i32")
        self.check_error(self.invoke("none"), "the module exports no function none")
        self.check_error(self.invoke("takes"), "takes or returns other types than i32")
        self.file("types.wat", '(module (func (export "v") (param v128)) (func (export "r") (result v128) unreachable)'
                               ' (func (export "a") (param i32 anyref)) (func (export "f") (param (ref func))))')
        for name in self.OTHER_TYPES:
            with self.subTest(name=name):
                self.check_error(self.wasinn("run", "--engine", self.ENGINE, "--invoke", name, "types.wat"), f"{name} takes or returns other types than i32, i64, f32 and f64")
        self.check(self.invoke("fails"), code=134, out="", err="unreachable")

    def test_how_it_ends(self):
        self.file("ends.wat", """(module (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
            (memory (export "memory") 1) (func (export "quit") (param i32) (call $exit (local.get 0)))
            (func (export "endless") (loop (br 0))))""")
        run = lambda *words: self.wasinn("run", "--engine", self.ENGINE, *words)  # noqa: E731
        self.check(run("--invoke", "quit", "ends.wat", "7"), code=7, out="", err="")
        self.check(run("--invoke", "quit", "ends.wat", "0"), out="", err="")
        self.check(run("--timeout", "100ms", "--invoke", "endless", "ends.wat"), code=124, out="")


@unittest.skipUnless("WASINN_HAS_WAMR" in os.environ, "without WAMR")
class WamrInvokeTest(InvokeTest):
    ENGINE, OTHER_TYPES = "wamr", ""  # it loads no module that has them


class ModuleFromStdinTest(CommandTest):
    def test_a_pipe(self):
        module = pathlib.Path(PROBE).read_bytes()
        self.check(self.wasinn("run", "-", "args", "x", input=module), out="arg -\narg args\narg x\n", err="")
        self.check(self.wasinn("run", "-", input=b"nothing"), code=125, err="is not a WebAssembly module")

    def test_a_file(self):
        with open(PROBE, "rb") as module:
            done = subprocess.run([os.environ["WASINN"], "run", "-", "exit", "4"], stdin=module, env=self.env, cwd=self.dir, timeout=WAIT)
        self.assertEqual(done.returncode, 4)


class EnvironmentTest(CommandTest):
    def env_of(self, *flags, env=None):
        result = self.run_probe("env", flags=flags, env=env)
        self.check(result, err="")
        return [line.removeprefix("env ") for line in result.out.splitlines()]

    def test_file(self):
        self.file("a.env", "# comment\nA=1\n\n  B=x y=z\r\nHOST\n")
        self.file("b.env", "A=2")
        self.assertEqual(self.env_of("--env-file", "a.env", env={"HOST": "h"}), ["A=1", "B=x y=z", "HOST=h"])
        self.assertEqual(self.env_of("--env-file", "a.env", "--env-file", "b.env", env={"HOST": "h"})[0], "A=2")
        self.assertEqual(self.env_of("--env", "A=3", "--env-file", "a.env", env={"HOST": "h"})[0], "A=3")

    def test_file_with_mistakes(self):
        self.file("a.env", "A=1\n=x\n")
        self.check_error(self.run_probe("env", flags=["--env-file", "a.env"]), "a.env:2: '=x' is not NAME=VALUE", code=2)
        self.check_error(self.run_probe("env", flags=["--env-file", "none"]), "cannot open none", code=2)

    def test_inherited(self):
        report = self.env_of("-S", "inherit-env", "--env", "MINE=guests", env={"MINE": "hosts", "OTHER": "1"})
        self.assertIn("MINE=guests", report)
        self.assertIn("OTHER=1", report)
        self.assertNotIn("MINE=hosts", report)
        self.check_error(self.wasinn("inspect", "-S", "inherit-env", "x"), "unknown 'inherit-env'", code=2)


class WasmtimesFlagsTest(CommandTest):
    def test_limits(self):
        self.file("loop.wat", LOOP)
        self.file("large.wat", '(module (memory (export "memory") 1) (func (export "_start") (if (i32.eq (memory.grow (i32.const 99)) (i32.const -1)) (then unreachable))))')
        self.check(self.wasinn("run", "-W", "timeout=200ms", "loop.wat"), code=124)
        self.check(self.wasinn("run", "-Wsimd,fuel=100000", "loop.wat"), code=134, err="fuel")
        self.check(self.wasinn("run", "large.wat"), out="", err="")
        self.check(self.wasinn("run", "--wasm", "max-memory-size=131072,threads=y", "large.wat"), code=134)

    def test_unknown_ones_say_what_is_known(self):
        for flag in ("memory64", "simd=n", "timeout"):
            result = self.run_probe(flags=["-W", flag])
            self.check_error(result, "-W" if flag == "timeout" else f"unknown '{flag}': known are timeout=, max-memory-size=", code=2)
        self.check_error(self.run_probe(flags=["-S", "tcp"]), "known are nn, cli, inherit-env, inherit-network, http and nn-graph=", code=2)
        self.check_error(self.wasinn("inspect", "-S", "http", "x"), "unknown 'http'", code=2)

    def test_network(self):
        self.check(self.run_probe("exit", "0", flags=["-S", "inherit-network"]), out="", err="")


class ProfileTest(CommandTest):
    def test_perfmap(self):
        done = subprocess.Popen([os.environ["WASINN"], "run", "--profile", "perfmap", PROBE, "exit", "0"], env=self.env, cwd=self.dir)
        self.assertEqual(done.wait(timeout=WAIT), 0)
        report = pathlib.Path(f"/tmp/perf-{done.pid}.map")
        self.addCleanup(report.unlink)
        self.assertRegex(report.read_text(), r"(?m)^(?:0x)?[0-9a-f]+ [0-9a-f]+ .*main")

    def test_jitdump(self):
        done = subprocess.Popen([os.environ["WASINN"], "run", "--profile", "jitdump", PROBE, "exit", "0"], env=self.env, cwd=self.dir)
        self.assertEqual(done.wait(timeout=WAIT), 0)
        (report,) = self.dir.glob("jit-*.dump")
        self.assertEqual(report.name, f"jit-{done.pid}.dump")
        dump = report.read_bytes()
        magic, version, size = struct.unpack_from("<III", dump)
        self.assertEqual((magic, version), (0x4A695444, 1))
        names = []
        while size < len(dump):  # records: what they are, their size, a time; and of code that is loaded 40 bytes before its name
            kind, record = struct.unpack_from("<II", dump, size)
            if kind == 0:
                names.append(dump[size + 56 : dump.index(b"\0", size + 56)].decode())
            size += record
        self.assertEqual(size, len(dump))
        self.assertTrue([name for name in names if "main" in name], names)

    def test_where_it_cannot_be_written(self):
        (self.dir / "jit").mkdir()
        refuse = lambda: (os.chdir(self.dir / "jit"), os.rmdir(self.dir / "jit"))  # noqa: E731
        self.check_error(self.run_probe(flags=["--config", str(self.dir / "echo.toml"), "--profile", "jitdump"], prepare=refuse),
                         "--profile: cannot write jit-")

    def test_unknown(self):
        self.check_error(self.run_probe(flags=["--profile", "gprof"]), "gprof", code=2)
