"""Programs that take a compiler long, or much memory: another process compiles them, and has limits."""

import os
import signal
import subprocess
import unittest

from command import WAIT, WASINN, CommandTest
from compiling import compiler_of, doubling, has_ended

EXIT = '(module (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32))) (memory (export "memory") 1) %s)'
SEVEN = EXIT % '(func (export "_start") (call $exit (i32.const 7)))'
INVALID = '(module (func (export "_start") (i32.const 1)))'
MUCH = "compiling it took more than 300 MiB of memory, most likely (signal 6, Aborted): see --max-compile-memory (engine.max_compile_bytes)"
NO_PROCESS = ("--compile-timeout", "0", "--max-compile-memory", "0")


class CompileLimitsTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("seven.wat", SEVEN)

    def test_a_program_is_the_same_whoever_compiles_it(self):
        codes = []
        for flags in ((), NO_PROCESS, ("--compile-timeout", "0"), ("--max-compile-memory", "0")):
            with self.subTest(flags=flags):
                self.check(self.wasinn("run", "--no-cache", *flags, "seven.wat"), code=7, out="", err="")
                self.check(self.wasinn("compile", *flags, "seven.wat", "-o", "seven.cwasm"), out="", err="")
                codes.append((self.dir / "seven.cwasm").read_bytes())
        self.assertEqual(len(set(codes)), 1)

    def test_settings_count_as_well(self):
        for settings in ("", "pool_instances = 2\npool_memory_bytes = 1048576\n"):
            self.file("settings.toml", f"[engine]\ncompile_timeout_ms = 60000\nmax_compile_bytes = 1073741824\n{settings}")
            self.check(self.wasinn("run", "--no-cache", "--config", "settings.toml", "seven.wat"), code=7, out="", err="")
        for key in ("compile_timeout_ms = -1", "max_compile_bytes = 'much'"):
            self.file("settings.toml", f"[engine]\n{key}\n")
            self.check_error(self.wasinn("run", "--config", "settings.toml", "seven.wat"), "configuration key 'engine." + key.split()[0])

    def test_flags_that_change_the_code(self):
        self.file("endless.wat", EXIT % '(func (export "_start") (loop $next (br $next)))')
        self.check(self.wasinn("run", "--no-cache", "--timeout", "100ms", "endless.wat"), code=124)
        self.check(self.wasinn("run", "--no-cache", "--fuel", "1000", "endless.wat"), code=134, err="all fuel consumed")

    def test_errors_are_the_same_as_before(self):
        self.file("invalid.wat", INVALID)
        report = {self.wasinn("run", *flags, "invalid.wat").err for flags in ((), NO_PROCESS)}
        self.assertEqual(len(report), 1, report)
        self.assertIn("type mismatch", report.pop())

    def test_whoever_starts_us_may_ignore_children(self):
        ignores = lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        self.check(self.wasinn("run", "--no-cache", "seven.wat", prepare=ignores), code=7, out="", err="")

    def test_words_that_are_no_order(self):
        for words in ((), ("1",), ("x", "0", "0", "0", "0", "0", "0"), ("1", "5", "0", "0", "0", "0", "0"), ("1",) * 8):
            with self.subTest(words=words):
                done = subprocess.run(["wasinn-compiler", *words], executable=WASINN, stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (2, b"", b""))

    def test_a_compiler_without_whom_it_compiles_for(self):
        done = subprocess.run(["wasinn-compiler", "1", "0", "0", "0", "0", "0", "0"], executable=WASINN, stdin=subprocess.DEVNULL, timeout=WAIT)
        self.assertEqual(done.returncode, -signal.SIGKILL)


@unittest.skipUnless("WASINN_HAS_COMPONENTS" in os.environ, "this Wasmtime serves no components")
class HostileTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("doubling.wat", doubling(24))  # 10 GB

    def test_much_memory(self):
        for command in ("run", "compile"):
            self.check_error(self.wasinn(command, "--max-compile-memory", "300M", "doubling.wat"), MUCH)

    def test_text_that_takes_long_to_read(self):
        blocks = 50_000
        self.file("labels.wat", '(module (func (export "_start") block $far %s %s %s end))' % ("block " * blocks, "br $far " * blocks, "end " * blocks))
        self.check_error(self.wasinn("run", "--compile-timeout", "100ms", "labels.wat"), "compiling it took longer than 100 ms")

    def images(self, more=""):
        """A program of which Wasmtime makes 80 MB of images."""
        memories = "".join(f'(memory $m{i} 1000) (data (memory $m{i}) (i32.const 0) "x") (data (memory $m{i}) (i32.const 16000000) "x")' for i in range(5))
        self.file("images.wat", f'(module {memories} (func (export "_start")) {more})')

    def test_bytes_that_say_nothing_buy_no_code(self):
        self.images(f'(@custom "padding" "{"x" * (4 << 20)}")')
        padded = ("run", "--no-cache", "--max-compile-memory")
        self.check_error(self.wasinn(*padded, "512M", "images.wat"), "bytes becomes more than 68 MiB of code")
        self.check(self.wasinn(*padded, "1G", "images.wat"), err="")

    def test_more_code_than_programs_have(self):
        self.images()
        self.check_error(self.wasinn("run", "--no-cache", "images.wat"), "bytes becomes more than 64 MiB of code, unlike any compiler's program")
        self.check(self.wasinn("run", "--no-cache", *NO_PROCESS, "images.wat"), err="")

    def test_so_little_memory_that_nothing_is_compiled(self):
        self.file("seven.wat", SEVEN)
        for size in ("1", "64K", "1M", "2M", "4M"):
            done = self.wasinn("run", "--no-cache", "--max-compile-memory", size, "seven.wat")
            self.assertIn(done.code, (7, 125), done)
            self.assertNotIn("longer", done.err)  # it waits for nothing

    def test_much_time(self):
        for command in ("run", "compile"):
            self.check_error(self.wasinn(command, "--compile-timeout", "100ms", "doubling.wat"),
                             "compiling it took longer than 100 ms: see --compile-timeout (engine.compile_timeout_ms)")

    def test_a_compiler_ends_with_whom_it_compiles_for(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number), subprocess.Popen([WASINN, "compile", "--max-compile-memory", "300M", "doubling.wat"], cwd=self.dir, env=self.env) as command:
                compiler = compiler_of(command)
                command.send_signal(number)
                self.assertEqual(command.wait(WAIT), -number)
                self.assertTrue(has_ended(compiler))

    def test_a_compiler_that_is_killed(self):
        with subprocess.Popen([WASINN, "compile", "doubling.wat"], cwd=self.dir, env=self.env, stderr=subprocess.PIPE) as command:
            compiler = compiler_of(command)
            signal.pidfd_send_signal(compiler, signal.SIGKILL)
            error = command.stderr.read().decode()
            self.assertEqual(command.wait(WAIT), 125)
            self.assertIn("the process that compiled it was killed: most likely the machine, or the container, has no more memory", error)
            self.assertTrue(has_ended(compiler))
