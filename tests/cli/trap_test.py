"""Modules that cannot run, and guests that fail while they run."""

from command import PROBE, CommandTest


class BadModuleTest(CommandTest):
    def check_bad(self, content, text):
        self.file("guest.wasm", content)
        self.check_error(self.wasinn("run", "guest.wasm"), text)

    def test_missing(self):
        self.check_error(self.wasinn("run", "nowhere.wasm"), "cannot open nowhere.wasm: No such file or directory")

    def test_folder(self):
        self.check_error(self.wasinn("run", "."), ". is a folder")

    def test_not_wasm(self):
        for content in ("hello", "", "\0asm", b"\x7fELF" + bytes(100)):
            self.check_bad(content, "guest.wasm is not a WebAssembly module")

    def test_unknown_version(self):
        self.check_bad(b"\0asm\2\0\0\0", "guest.wasm is WebAssembly of an unknown version")

    def test_broken(self):
        self.check_bad(b"\0asm\1\0\0\0\xff\xff", "guest.wasm: failed to parse WebAssembly module: ")

    def test_cut_off(self):
        with open(PROBE, "rb") as probe:
            self.check_bad(probe.read()[:1000], "guest.wasm: ")

    def test_broken_text(self):
        self.check_bad("(module\n  (func bla))", "<anon>:2:9")

    def test_no_start(self):
        self.check_bad('(module (func (export "f")))', "exports no function _start")
        self.check_bad('(module (func (export "_start") (param i32)))', "exports no function _start")
        self.check_bad('(module (memory (export "_start") 1))', "exports no function _start")

    def test_unknown_import(self):
        self.check_bad('(module (import "env" "f" (func)) (func (export "_start")))', "unknown import: `env::f`")

    def test_wasi_nn_with_another_signature(self):
        self.check_bad(
            '(module (import "wasi_ephemeral_nn" "compute" (func (param i64))) (func (export "_start")))',
            "incompatible import type for `wasi_ephemeral_nn::compute`",
        )


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


class MemoryTest(CommandTest):
    """The adapter's view of guest memory, by the errno of load_by_name("x"), a model that is not there."""

    def check_errno(self, errno, memory):
        # WASI's proc_exit needs a memory, so the guest traps if the errno is another one.
        self.file(
            "guest.wat",
            """(module
              (import "wasi_ephemeral_nn" "load_by_name" (func $load (param i32 i32 i32) (result i32)))
              %s
              (func (export "_start")
                (if (i32.ne (call $load (i32.const 0) (i32.const 1) (i32.const 16)) (i32.const %d))
                  (then unreachable))))"""
            % (memory, errno),
        )
        self.check(self.wasinn("run", "guest.wat"), code=0)

    def test_memory(self):
        self.check_errno(8, '(memory (export "memory") 1) (data (i32.const 0) "x")')

    def test_the_exported_one_of_several(self):
        self.check_errno(8, '(memory $other 1) (memory (export "memory") 1) (data (memory 1) (i32.const 0) "x")')

    def test_shared_memory(self):
        self.check_errno(8, '(memory (export "memory") 1 1 shared) (data (i32.const 0) "x")')

    def test_none(self):
        self.check_errno(3, "")
        self.check_errno(3, "(memory 1)")
        self.check_errno(3, '(memory (export "other") 1)')

    def test_something_else_of_that_name(self):
        self.check_errno(3, '(func (export "memory"))')
        self.check_errno(3, '(global (export "memory") i32 (i32.const 1))')
        self.check_errno(3, '(table (export "memory") 1 funcref)')

    def test_empty(self):
        self.check_errno(1, '(memory (export "memory") 0)')
