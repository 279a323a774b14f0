"""Modules that cannot run, and guests that fail while they run."""

import pathlib

from command import PROBE, CommandTest


class BadModuleTest(CommandTest):
    def test_files(self):
        self.check_error(self.wasinn("run", "nowhere.wasm"), "cannot open nowhere.wasm: No such file or directory")
        self.check_error(self.wasinn("run", "."), ". is a folder")

    def test_a_name_with_a_newline_begins_no_line_of_the_log(self):
        for words in (("run", "no\nwasinn: info: forged"), ("inspect", "no\nwasinn: info: forged")):
            result = self.wasinn(*words)
            self.assertNotIn("\nwasinn: info", result.err)
            self.assertIn("no\\x0awasinn: info: forged", result.err)

    def test_what_is_no_program(self):
        for content, text in (
            *((content, "guest.wasm is not a WebAssembly module") for content in ("hello", "", "\0asm", b"\x7fELF" + bytes(100))),
            (b"\0asm\2\0\0\0", "guest.wasm is WebAssembly of an unknown version"),
            (b"\0asm\1\0\0\0\xff\xff", "guest.wasm: failed to parse WebAssembly module: "),
            (pathlib.Path(PROBE).read_bytes()[:1000], "guest.wasm: "),
            ("(module\n  (func bla))", "<anon>:2:9"),
            ('(module (func (export "f")))', "exports no function _start"),
            ('(module (func (export "_start") (param i32)))', "exports no function _start"),
            ('(module (memory (export "_start") 1))', "exports no function _start"),
            ('(module (import "env" "f" (func)) (func (export "_start")))', "unknown import: `env::f`"),
            ('(module (import "wasi_ephemeral_nn" "compute" (func (param i64))) (func (export "_start")))',
             "incompatible import type for `wasi_ephemeral_nn::compute`"),
        ):
            with self.subTest(content[:60]):
                self.file("guest.wasm", content)
                self.check_error(self.wasinn("run", "guest.wasm"), text)


class TrapTest(CommandTest):
    def test_trap_prints_its_message_and_backtrace(self):
        result = self.run_probe("args_before", "trap")
        self.check(result, code=134, err="wasm trap: wasm `unreachable` instruction executed\nwasm backtrace:\n")
        self.assertRegex(result.err, r"  0: +0x[0-9a-f]+ - cli-probe.wasm!main\n")

    def test_output_before_a_trap_arrives(self):
        self.check(self.run_probe("load", "trap"), code=134, out="load errno 0\n")

    def test_trap_of_a_segment(self):
        self.file("guest.wat", '(module (memory 1) (data (i32.const 70000) "x") (func (export "_start")))')
        self.check(self.wasinn("run", "guest.wat"), code=134, out="", err="out of bounds memory access")

    def test_endless_recursion(self):
        self.file("guest.wat", '(module (func $f (export "_start") (call $f)))')
        result = self.wasinn("run", "guest.wat")
        self.check(result, code=134, out="", err="call stack exhausted")
        self.assertLess(len(result.err.splitlines()), 100)

    def test_names_of_functions_cannot_command_the_terminal(self):
        self.file("guest.wat", '(module (func $"\\1b[2J" (export "_start") unreachable))')
        result = self.wasinn("run", "guest.wat")
        self.check(result, code=134, err="\\x1b[2J")
        self.assertNotIn("\x1b", result.err)

    def test_exit_code_that_wasi_does_not_allow(self):
        self.check(self.run_probe("exit", "200"), code=125, err="exit with invalid exit status outside of [0..126)")
