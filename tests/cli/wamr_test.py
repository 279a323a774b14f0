"""Programs on WAMR: what differs from Wasmtime, and what must not."""

import os
import pathlib

from command import CommandTest

PROGRAM = '(module %s (memory (export "memory") 1) (func (export "_start") %s))'


class WamrTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.env["WASINN_ENGINE"] = "wamr"

    def run_text(self, text):
        self.file("guest.wat", text)
        return self.wasinn("run", "guest.wat")

    def check_bad(self, content, text, flags=()):
        self.file("guest.wasm", content)
        self.check_error(self.wasinn("run", *flags, "guest.wasm"), text)

    def test_a_flag_beats_the_environment(self):
        self.file("guest.wat", '(module (func (export "_start")))')  # without a memory, which WAMR wants
        self.check(self.wasinn("run", "--engine", "wasmtime", "guest.wat"), out="", err="")
        self.check_error(self.wasinn("run", "guest.wat"), "must export memory")

    def test_unknown_engine(self):
        self.check_error(self.wasinn("run", "--engine", "v8", "guest.wat"), "'v8' is not wasmtime or wamr", code=2)
        self.check_error(self.wasinn("run", "--engine", "wasmedge", "guest.wat"), "docs/wasmedge.md", code=2)

    def test_programs_that_are_none(self):
        self.check_bad(b"\0asm\1\0\0\0\xff\xff", "guest.wasm: WASM module load failed: invalid section id")
        self.check_bad(b"\0asm\x0d\0\1\0", "WAMR runs no components: --engine wasmtime does")
        self.check_bad("(module\n  (func bla))", "<anon>:2:9")
        self.check_bad('(module (memory (export "memory") 1) (func (export "f")))', "exports no function _start")

    def test_imports_that_cannot_be_served(self):
        self.check_bad(PROGRAM % ('(import "env" "f" (func))', ""), "unknown import: `env::f`")
        wrong = '(import "wasi_ephemeral_nn" "compute" (func (param i64) (result i32)))'
        self.check_bad(PROGRAM % (wrong, ""), "incompatible import type for `wasi_ephemeral_nn::compute`")

        self.check_bad(PROGRAM % (wrong, ""), "it is (func i32 -> i32) here, and the module has (func i64 -> i32)")

    def test_features_that_it_has_not_are_named(self):
        start = '(func (export "_start"))'
        for text, feature in (
            ('(tag $t) (memory (export "memory") 1)', "exceptions"),
            ('(memory (export "memory") i64 1)', "a memory of 64-bit addresses"),
            ('(memory (export "memory") 1) (memory 1)', "several memories"),
            ('(import "a" "b" (memory i64 1))', "a memory of 64-bit addresses"),
            ('(memory (export "memory") 1) (table i64 1 funcref)', "a table of 64-bit indices"),
            ('(memory (export "memory") 1) (type $s (struct (field i32)))', "types of garbage collection"),
            ('(memory (export "memory") 1) (func (block $b (try_table (catch_all $b))))', "an instruction that it does not know"),
        ):
            with self.subTest(text=text):
                self.check_bad(f"(module {text} {start})", f"it has {feature}, which WAMR does not run: --engine wasmtime does")

    def test_native_code_wants_to_be_allowed(self):
        self.check_bad(b"\0aot\6\0\0\0", "no sandbox confines: --allow-precompiled runs it")
        self.check_bad(b"\0aot\xff\0\0\0", "AOT module load failed: unknown binary version", ["--allow-precompiled"])
        self.check_bad(b"\0aot\6\0\0\0" + bytes(100), "AOT module load failed: ", ["--allow-precompiled"])
        self.check_bad(b"\0aot\6\0\0\0", "only --engine wamr runs it", ["--engine", "wasmtime"])

    def test_flags_that_it_has_no_use_for(self):
        self.check(self.run_probe("args", flags=["--engine", "wamr", "--no-cache"]),
                   out="arg cli-probe.wasm", err="wasinn: warning: --no-cache has no effect")
        self.file("pool.toml", "[engine]\npool_instances = 3\n")
        self.check(self.run_probe("args", flags=["--config", "pool.toml"]),
                   out="arg cli-probe.wasm", err="wasinn: warning: engine.pool_instances has no effect")

    def test_trap_prints_its_message_and_backtrace(self):
        result = self.run_probe("args_before", "trap")
        self.check(result, code=134, out="", err="wasm trap: unreachable\nwasm backtrace:\n")
        self.assertRegex(result.err, r"\n    0: \+0x[0-9a-f]+ - cli-probe.wasm!main\n")

    def test_tables_that_begin_too_large(self):
        tables = "(table 5000000 5000000 funcref) (table 5000000 externref)"
        self.check(self.run_text(PROGRAM % (tables, "")), out="", err="")
        self.check_error(self.run_text(PROGRAM % (tables + "(table 1 funcref)", "")), "its tables begin with 10000001 elements")

    def test_endless_recursion(self):
        result = self.run_text(PROGRAM % ("", "(call 0)"))
        self.check(result, code=134, out="", err="operand stack overflow")
        self.assertRegex(result.err, r"… \d+ more")
        self.assertLess(len(result.err.splitlines()), 100)

    def test_trap_before_the_start(self):
        result = self.run_text('(module (memory (export "memory") 1) (func $f unreachable) (start $f) (func (export "_start")))')
        self.check(result, code=134, out="", err="wasm trap: unreachable")
        result = self.run_text('(module (memory (export "memory") 1) (data (i32.const 70000) "x") (func (export "_start")))')
        self.check(result, code=134, out="", err="out of bounds memory access")

    def test_names_of_functions_cannot_command_the_terminal(self):
        result = self.run_text('(module (memory (export "memory") 1) (func $"\\1b[2J" (export "_start") unreachable))')
        self.check(result, code=134, err="\\x1b[2J")
        self.assertNotIn("\x1b", result.err)

    def test_simd(self):
        body = "(if (i32.ne (i8x16.extract_lane_u 3 (i8x16.add (v128.const i32x4 1 2 3 4) (v128.const i32x4 0x05000000 0 0 0))) (i32.const 5)) (then unreachable))"
        self.check(self.run_text(PROGRAM % ("", body)), out="", err="")

    def test_folder_names_that_wamr_cannot_have(self):
        result = self.run_probe("args", flags=["--dir", "a::b::c"])
        self.check_error(result, "WAMR has no folders with '::' in their names")
        for name in ("a:", ":a:"):  # the second is what WAMR would take the first for
            (self.dir / name).mkdir()
        self.check_error(self.run_probe("args", flags=["--dir", "a:"]), "or ':' at the end of one")

    def test_only_what_the_flags_say(self):
        pathlib.Path(self.dir / "data").mkdir()
        os.symlink("/etc/passwd", self.dir / "data" / "link")
        self.check(self.run_probe("read", "data/link", flags=["--dir", "data"]), code=3, out="")
