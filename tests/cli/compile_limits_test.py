"""Programs that take a compiler long, or much memory: another process compiles them, and has limits."""

import os
import pathlib
import selectors
import signal
import subprocess
import unittest

from command import WASINN, CommandTest

EXIT = '(module (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32))) (memory (export "memory") 1) %s)'
SEVEN = EXIT % '(func (export "_start") (call $exit (i32.const 7)))'
INVALID = '(module (func (export "_start") (i32.const 1)))'
NO_PROCESS = ("--compile-timeout", "0", "--max-compile-memory", "0")
LONG = 30  # seconds: more than any of this takes on a busy machine


def doubling(times):
    """A component with 2^times instances, which Wasmtime writes down one by one."""
    lines = ["(component (component $c0 (core module $m) (core instance (instantiate $m)))"]
    for i in range(times):
        lines.append(f"(component $c{i + 1} (instance (instantiate $c{i})) (instance (instantiate $c{i})))")
    return "\n".join([*lines, f"(instance (instantiate $c{times})))"])


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

    def test_what_is_wrong_is_told_as_before(self):
        self.file("invalid.wat", INVALID)
        told = {self.wasinn("run", *flags, "invalid.wat").err for flags in ((), NO_PROCESS)}
        self.assertEqual(len(told), 1, told)
        self.assertIn("type mismatch", told.pop())

    def test_whoever_starts_us_may_ignore_children(self):
        ignores = lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        self.check(self.wasinn("run", "--no-cache", "seven.wat", prepare=ignores), code=7, out="", err="")

    def test_words_that_are_no_order(self):
        for words in ((), ("1",), ("x", "0", "0", "0", "0", "0", "0"), ("1", "3", "0", "0", "0", "0", "0"), ("1",) * 8):
            with self.subTest(words=words):
                done = subprocess.run(["wasinn-compiler", *words], executable=WASINN, stdin=subprocess.DEVNULL, capture_output=True, timeout=LONG)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (2, b"", b""))

    def test_a_compiler_without_whom_it_compiles_for(self):
        done = subprocess.run(["wasinn-compiler", "1", "0", "0", "0", "0", "0", "0"], executable=WASINN, stdin=subprocess.DEVNULL, timeout=LONG)
        self.assertEqual(done.returncode, -signal.SIGKILL)


@unittest.skipUnless("WASINN_HAS_COMPONENTS" in os.environ, "this Wasmtime serves no components")
class HostileTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("doubling.wat", doubling(24))  # 10 GB

    def test_much_memory(self):
        for command in ("run", "compile"):
            self.check_error(self.wasinn(command, "--max-compile-memory", "300M", "doubling.wat"),
                             "most likely it needs more memory than 314572800 bytes: --max-compile-memory (engine.max_compile_bytes)")

    def test_much_time(self):
        for command in ("run", "compile"):
            self.check_error(self.wasinn(command, "--compile-timeout", "100ms", "doubling.wat"),
                             "compiling it takes longer than 100 ms: --compile-timeout (engine.compile_timeout_ms)")

    def children(self, pid):
        try:
            return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        except FileNotFoundError:
            return []

    def test_a_compiler_ends_with_whom_it_compiles_for(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number), subprocess.Popen([WASINN, "compile", "--max-compile-memory", "300M", "doubling.wat"], cwd=self.dir, env=self.env) as command:
                compilers = []
                while not compilers:
                    self.assertIsNone(command.poll())
                    compilers = self.children(command.pid)
                ended = [os.pidfd_open(compiler) for compiler in compilers]
                command.send_signal(number)
                self.assertEqual(command.wait(LONG), -number)
                for one in ended:
                    with selectors.DefaultSelector() as selector:
                        selector.register(one, selectors.EVENT_READ)
                        self.assertTrue(selector.select(LONG))
                    os.close(one)


if __name__ == "__main__":
    unittest.main()
