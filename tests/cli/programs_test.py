"""Programs and their imports, and large calls of WASI; on every engine of the command."""

import os

from command import CommandTest

# As AssemblyScript makes them: no _start, the program is the start section.
START = """(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "load_by_name" (func $load (param i32 i32 i32) (result i32)))
  (memory (export "memory") 1) %s
  (data (i32.const 8) "\\10\\00\\00\\00\\06\\00\\00\\00")
  (data (i32.const 16) "hello\\n")
  (func $main %s)
  (start $main))"""
HELLO = "(drop (call $write (i32.const 1) (i32.const 8) (i32.const 1) (i32.const 0)))"

# Opens "model" in the first folder, and reads 150 MiB of it in one call; exits with the errno, or with 90 if that was less.
READ = """(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  %s
  (data (i32.const 0) "model")
  (data (i32.const 8) "\\00\\00\\01\\00\\00\\00\\60\\09")
  (func (export "_start") (local $errno i32)
    (call $check (call $open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 5) (i32.const 0)
      (i64.const 2) (i64.const 0) (i32.const 0) (i32.const 32)))
    (call $check (call $read (i32.load (i32.const 32)) (i32.const 8) (i32.const 1) (i32.const 36)))
    (if (i32.ne (i32.load (i32.const 36)) (i32.const 0x09600000)) (then (call $exit (i32.const 90))))
    (if (i32.ne (i32.load8_u (i32.const 0x0960ffff)) (i32.const 0x78)) (then (call $exit (i32.const 91)))))
  (func $check (param $errno i32)
    (if (local.get $errno) (then (call $exit (local.get $errno))))))"""


class Programs:
    def run_text(self, text, *flags):
        self.file("guest.wat", text)
        return self.wasinn("run", *flags, "guest.wat")

    def test_the_start_section_is_the_program(self):
        self.check(self.run_text(START % ("", HELLO)), out="hello\n", err="")

    def test_beside_other_exports(self):
        more = '(func (export "__new") (param i32) (result i32) (i32.const 0)) (global (export "g") i32 (i32.const 1))'
        self.check(self.run_text(START % (more, HELLO)), out="hello\n", err="")

    def test_without_an_export(self):
        # WAMR wants a memory.
        result = self.run_text('(module (func $main unreachable) (start $main))')
        if self.env.get("WASINN_ENGINE") == "wamr":
            self.check_error(result, "must export memory")
        else:
            self.check(result, code=134, err="unreachable")

    def test_its_exit_code(self):
        self.check(self.run_text(START % ("", HELLO + "(call $exit (i32.const 7))")), code=7, out="hello\n", err="")

    def test_its_trap(self):
        self.check(self.run_text(START % ("", HELLO + "unreachable")), code=134, out="hello\n", err="wasm backtrace:")

    def test_it_has_wasi_nn(self):
        # not_found
        load = "(call $exit (call $load (i32.const 16) (i32.const 5) (i32.const 0)))"
        self.check(self.run_text(START % ("", load)), code=8, err="no model is registered")

    def test_start_functions_of_programs_run_first(self):
        program = '(func (export "_start") (call $exit (i32.const 5)))'
        self.check(self.run_text(START % (program, HELLO)), code=5, out="hello\n", err="")

    def test_libraries_have_a_start_section_too(self):
        library = '(func (export "_initialize"))'
        self.check_error(self.run_text(START % (library, HELLO)), "it is a library and not a program")

    def test_sockets_of_wasmedge(self):
        sockets = '(import "wasi_snapshot_preview1" "%s" (func %s))'
        program = '(module %s (memory (export "memory") 1) (func (export "_start")))'
        wrong = "(param i32 i32 i32) (result i32)"
        self.check_error(self.run_text(program % (sockets % ("sock_open", wrong))), "one of WasmEdge's sockets")
        self.check_error(self.run_text(program % (sockets % ("sock_connect", wrong))), "one of WasmEdge's sockets")
        standard = sockets % ("sock_shutdown", "(param i32 i32) (result i32)")
        self.check(self.run_text(program % standard), out="", err="")

    def test_plugins_of_wasmedge(self):
        program = '(module (import "wasmedge_httpsreq" "f" (func)) (memory (export "memory") 1) (func (export "_start")))'
        self.check_error(self.run_text(program), "imports `wasmedge_httpsreq`, a plugin of WasmEdge")

    def large_read(self, memory):
        with open(self.dir / "model", "wb") as model:
            model.truncate(200 << 20)
            model.seek((150 << 20) - 1)
            model.write(b"x")
        # A prebuilt Wasmtime has no function for it: ENOMEM, which is 48.
        raised = "WASINN_HAS_COMPONENTS" in os.environ or self.env.get("WASINN_ENGINE") == "wamr"
        self.check(self.run_text(READ % memory, "--dir", "."), code=0 if raised else 48, out="", err="")

    def test_150_megabytes_in_one_read(self):
        self.large_read('(memory (export "memory") 2402)')

    def test_150_megabytes_into_a_shared_memory(self):
        self.large_read('(memory (export "memory") 2402 2402 shared)')


class OnWasmtime(Programs, CommandTest):
    def test_http_is_named_before_anything_is_compiled(self):
        # The core module does not even pass validation.
        component = """(component (import "wasi:http/types@0.2.0" (instance))
          (core module (func (result i32))))"""
        self.check_error(self.run_text(component), "imports `wasi:http/types@0.2.0`, HTTP of WASI")

    def test_a_read_over_all_limits(self):
        limits = ["--nn-max-bytes", "1M"]
        with open(self.dir / "model", "wb") as model:
            model.truncate(200 << 20)
        # ENOMEM of WASI is 48.
        self.check(self.run_text(READ % '(memory (export "memory") 2402)', *limits, "--dir", "."), code=48, err="")


if "WASINN_HAS_WAMR" in os.environ:

    class OnWamr(Programs, CommandTest):
        def setUp(self):
            super().setUp()
            self.env["WASINN_ENGINE"] = "wamr"
