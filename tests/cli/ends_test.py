"""Guests that do not end by themselves, and those that want more than they may have: deadlines, signals, limits, exit codes."""

import json
import os
import pathlib
import signal
import subprocess

from command import PROBE, WAIT, WASINN, CommandTest, longer_and_longer, until

HAS_COMPONENTS = "WASINN_HAS_COMPONENTS" in os.environ
ENGINES = ("wasmtime", "wamr") if "WASINN_HAS_WAMR" in os.environ else ("wasmtime",)

WASI = '(import "wasi_snapshot_preview1" "%s" (func $%s %s))'
EXIT = WASI % ("proc_exit", "exit", "(param i32)")
ENDLESS = "(loop $endless (br $endless))"


def program(body, has="", imports=EXIT):
    return f'(module {imports} (memory (export "memory") 1) {has} (func (export "_start") (local $n i32) {body}))'


# Says that it is there, for a test to wait for.
READY = """(i32.store (i32.const 0) (i32.const 16)) (i32.store (i32.const 4) (i32.const 6))
           (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))"""
WRITE = WASI % ("fd_write", "fd_write", "(param i32 i32 i32 i32) (result i32)")
POLL = WASI % ("poll_oneoff", "poll_oneoff", "(param i32 i32 i32 i32) (result i32)")
# An hour, on the monotonic clock.
SLEEP = """(i64.store (i32.const 128) (i64.const 3600000000000)) (i32.store (i32.const 120) (i32.const 1))
           (drop (call $poll_oneoff (i32.const 104) (i32.const 200) (i32.const 1) (i32.const 300)))"""
TEXT = '(data (i32.const 16) "ready\\n")'
SLEEPER = program(READY + SLEEP, TEXT, WRITE + POLL)
LOOPER = program(READY + ENDLESS, TEXT, WRITE)
STARTER = program("", f"{TEXT} (func $first {READY} {ENDLESS}) (start $first)", WRITE)
BLOCK = "(drop (memory.atomic.wait32 (i32.const 64) (i32.const 0) (i64.const -1)))"
THREADS = f"""(module {WRITE} (import "env" "memory" (memory 1 4 shared)) (export "memory" (memory 0)) {TEXT}
  (import "wasi" "thread-spawn" (func $spawn (param i32) (result i32)))
  (func (export "wasi_thread_start") (param i32 i32) {READY} {ENDLESS})
  (func (export "_start") (drop (call $spawn (i32.const 0))) {BLOCK} ))"""
READ = WASI % ("fd_read", "fd_read", "(param i32 i32 i32 i32) (result i32)")
READER = program(READY + """(i32.store (i32.const 0) (i32.const 400)) (i32.store (i32.const 4) (i32.const 10))
           (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))""", TEXT, WRITE + READ)
ENDLESS_GUESTS = {"loop": LOOPER, "sleep": SLEEPER, "start": STARTER, "threads": THREADS, "read": READER}


def count(step):
    """Exits with how often a step worked, at most 100."""
    return f"""(loop $next (if {step} (then (local.set $n (i32.add (local.get $n) (i32.const 1)))
                 (br_if $next (i32.lt_u (local.get $n) (i32.const 100)))))) (call $exit (local.get $n))"""


GROW = count("(i32.ne (memory.grow (i32.const 1)) (i32.const -1))")
COMPONENT = """(component (core module $m (memory 1) (func (export "run") (result i32) (local $n i32) %s (i32.const 0)))
  (core instance $i (instantiate $m)) (func $run (result (result)) (canon lift (core func $i "run")))
  (instance $run (export "run" (func $run))) (export "wasi:cli/run@0.2.0" (instance $run)))"""


class EndsTest(CommandTest):
    def run_text(self, text, *flags, engine="wasmtime"):
        self.file("guest.wat", text)
        return self.wasinn("run", "--engine", engine, *flags, "guest.wat")

    def start(self, *args):
        child = subprocess.Popen([WASINN, "run", *args], cwd=self.dir, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        self.addCleanup(child.stderr.close)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.stdin.close)
        return child

    def start_text(self, text, engine, *flags):
        """Once the guest has said that it is ready."""
        self.file("guest.wat", text)
        child = self.start("--engine", engine, *flags, "guest.wat")
        self.assertEqual(child.stdout.readline(), b"ready\n", child)
        return child

    def end_by_deadline(self, text, engine, *flags):
        """Once it was ready before that."""
        self.file("guest.wat", text)
        for timeout in longer_and_longer():
            child = self.start("--engine", engine, "--timeout", f"{timeout}ms", *flags, "guest.wat")
            was_ready = child.stdout.readline() == b"ready\n"
            self.assertEqual(child.wait(timeout=WAIT), 124)
            if was_ready:
                return child.stderr.read()


class DeadlineTest(EndsTest):
    def test_guests_that_do_not_end(self):
        for engine in ENGINES:
            for name, guest in ENDLESS_GUESTS.items():
                with self.subTest(engine=engine, guest=name):
                    self.assertRegex(self.end_by_deadline(guest, engine), b"^wasinn: error: .*\n$")

    def expect_words(self, guest):
        """The engine's; on a busy machine the process may end first, and say so."""
        def says():
            result = self.run_text(guest, "--timeout", "50ms")
            self.check(result, code=124, out="")
            return "guest.wat: the guest ran for longer than it may (limits.run_timeout_ms)" in result.err

        until(says)

    def test_what_it_says(self):
        self.expect_words(program(ENDLESS))

    def test_from_the_environment_and_the_file(self):
        self.file("guest.wat", program(ENDLESS))
        self.check(self.wasinn("run", "guest.wat", env={"WASINN_TIMEOUT": "50ms"}), code=124)
        self.file("echo.toml", "limits.run_timeout_ms = 50\n")
        self.check(self.wasinn("run", "guest.wat"), code=124)

    def test_a_guest_that_ends_in_time(self):
        for engine in ENGINES:
            self.check(self.run_text(program("(call $exit (i32.const 7))"), "--timeout", "1h", engine=engine), code=7, err="")

    def test_a_guest_beside_a_compute(self):
        self.file("slow.gguf", "GGUF\nin x f32 2,3\ndelay 60000000\n")
        for engine in ENGINES:
            flags = ["--engine", engine, "--timeout", "200ms", "--nn-timeout", "0", "--model", "slow=slow.gguf"]
            self.check(self.run_probe("infer", "slow", flags=flags), code=124)

    if HAS_COMPONENTS:

        def test_a_component(self):
            self.expect_words(COMPONENT % ENDLESS)


class SignalTest(EndsTest):
    def test_signals_end_it(self):
        """At once, whatever it does by then: on a machine that is busy the outcome may be left untold, but never be a wrong one."""
        report = []
        for engine in ENGINES:
            for name, guest in ENDLESS_GUESTS.items():
                for flags in ([], ["--timeout", "1h"]):
                    number = signal.SIGTERM if flags else signal.SIGINT
                    with self.subTest(engine=engine, guest=name, flags=flags):
                        outcome = self.dir / f"{engine}-{name}-{number}.json"
                        child = self.start_text(guest, engine, "--json", str(outcome), *flags)
                        child.send_signal(number)
                        self.assertEqual(child.wait(timeout=WAIT), 128 + number)
                        self.assertEqual(child.stderr.read(), b"")
                        if outcome.exists() and outcome.stat().st_size > 0:
                            report.append(json.loads(outcome.read_text()))
                            self.assertEqual(
                                (report[-1]["outcome"], report[-1]["exit_code"]), ("interrupted", 128 + number)
                            )
        self.assertTrue(report)

    def test_two_signals(self):
        child = self.start_text(SLEEPER, "wasmtime")
        child.send_signal(signal.SIGINT)
        child.send_signal(signal.SIGTERM)
        self.assertIn(child.wait(timeout=WAIT), (130, 143))

    def test_one_that_is_ignored_stays_so(self):
        previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
        self.addCleanup(signal.signal, signal.SIGINT, previous)
        child = self.start_text(SLEEPER, "wasmtime")
        child.send_signal(signal.SIGINT)
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.wait(timeout=WAIT), 143)

    def test_a_compute_ends(self):
        self.file("slow.gguf", "GGUF\nin x f32 2,3\ndelay 60000000\n")
        for engine in ENGINES:
            flags = ["--engine", engine, "--nn-timeout", "0", "--model", "slow=slow.gguf"]
            child = self.start(*flags, PROBE, "load", "infer", "slow")
            self.assertEqual(child.stdout.readline(), b"load errno 0\n")
            child.send_signal(signal.SIGINT)
            self.assertEqual(child.wait(timeout=WAIT), 130)


class LimitTest(EndsTest):
    def test_memory(self):
        for engine in ENGINES:
            self.check(self.run_text(program(GROW), "--max-memory", "640K", engine=engine), code=9, err="")
            self.check_error(self.run_text(program(GROW), "--max-memory", "63K", engine=engine), "over the limit of 64512 (limits.max_memory_bytes)")

    def test_table(self):
        table = program(count("(i32.ne (table.grow (ref.null func) (i32.const 1)) (i32.const -1))"), "(table 2 funcref)")
        self.check(self.run_text(table, "--max-table-elements", "20"), code=18, err="")
        self.check_error(self.run_text(table, "--max-table-elements", "1"), "table minimum size of 2 elements exceeds table limits")
        if "wamr" in ENGINES:
            self.check_error(self.run_text(table, "--max-table-elements", "20", engine="wamr"), "WAMR has no limit for tables")

    def test_fuel(self):
        self.check(self.run_text(program(ENDLESS), "--fuel", "10000"), code=134, err="all fuel consumed")
        self.check(self.run_text(program("(call $exit (i32.const 3))"), "--fuel", "10000000000"), code=3, err="")
        self.check_error(self.run_text(THREADS, "--fuel", "10000"), "fuel cannot be limited for a program with threads")
        if "wamr" in ENGINES:
            self.check_error(self.run_text(program(""), "--fuel", "10000", engine="wamr"), "WAMR measures no fuel")

    if HAS_COMPONENTS:

        def test_instances_of_a_component(self):
            """The host's memory for them counts, too: here 1.6 MB for each."""
            module = f"(core module $g {100_000 * '(global i64 (i64.const 1))'})"
            for n, code, err in ((30, 0, ""), (60, 125, "instance count too high")):
                instances = module + n * "(core instance (instantiate $g))"
                guest = (COMPONENT % "").replace("(core instance $i", f"{instances} (core instance $i", 1)
                self.check(self.run_text(guest, "--max-memory", "1M"), code=code, err=err)

        def test_components(self):
            grown = "(local.set $n (i32.add (local.get $n) (i32.const 1)))"
            grow = f"(loop $next (if (i32.ne (memory.grow (i32.const 1)) (i32.const -1)) (then {grown} (br_if $next (i32.lt_u (local.get $n) (i32.const 100))))))"
            nine = COMPONENT % (grow + "(if (i32.ne (local.get $n) (i32.const 9)) (then unreachable))")
            self.check(self.run_text(nine, "--max-memory", "640K"), code=0, err="")
            self.check(self.run_text(nine, "--max-memory", "1M"), code=134, err="unreachable")
            self.check_error(self.run_text(nine, "--max-memory", "1K"), "over the limit of 1024 (limits.max_memory_bytes)")
            self.check(self.run_text(COMPONENT % ENDLESS, "--fuel", "10000"), code=134, err="all fuel consumed")



class FolderTest(EndsTest):
    """A guest's rights in a folder, by the errnos of path_open with O_CREAT, and of opening a file to write."""

    def try_to_write(self, flag, engine="wasmtime"):
        opens = WASI % ("path_open", "path_open", "(param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)")
        remove = WASI % ("path_unlink_file", "unlink", "(param i32 i32 i32) (result i32)")
        write = "(i64.const 64) (i64.const 64) (i32.const 0) (i32.const 8)"
        body = f"""(local.set $n (i32.eqz (call $path_open (i32.const 3) (i32.const 0) (i32.const 16) (i32.const 3) (i32.const 1) {write})))
          (local.set $n (i32.or (local.get $n) (i32.shl (i32.eqz (call $path_open (i32.const 3) (i32.const 0) (i32.const 20) (i32.const 3) (i32.const 0) {write})) (i32.const 1))))
          (local.set $n (i32.or (local.get $n) (i32.shl (i32.eqz (call $unlink (i32.const 3) (i32.const 20) (i32.const 3))) (i32.const 2))))
          (if (call $path_open (i32.const 3) (i32.const 0) (i32.const 24) (i32.const 3) (i32.const 0) (i64.const 2) (i64.const 2) (i32.const 0) (i32.const 8)) (then unreachable))
          (call $exit (local.get $n))"""
        self.file("d/old", "text")
        self.file("d/xyz", "text")
        has = '(data (i32.const 16) "new") (data (i32.const 20) "old") (data (i32.const 24) "xyz")'
        return self.run_text(program(body, has, EXIT + opens + remove), "--dir", flag, engine=engine)

    def test_writable(self):
        for engine in ENGINES:
            self.check(self.try_to_write("d", engine), code=7, err="")

    def test_read_only(self):
        for flag in ("d:ro", "d::there:ro", f"{self.dir}/d::/:ro"):
            self.check(self.try_to_write(flag), code=0, err="")
            self.assertEqual(sorted(path.name for path in pathlib.Path(self.dir / "d").iterdir()), ["old", "xyz"])

    def test_an_engine_that_cannot(self):
        if "wamr" in ENGINES:
            self.check_error(self.try_to_write("d:ro", "wamr"), "WAMR has no read-only folders, such as d")

    def test_the_suffix_is_no_folder(self):
        self.check_error(self.run_text(program(""), "--dir", ":ro"), "is not HOST[::GUEST]", code=2)

    def test_a_suffix_that_is_misspelled(self):
        (self.dir / "d").mkdir()
        for flag, said in (("d:RO", "'RO' is neither ro nor"), ("d:readonly", "'readonly' is neither ro nor"), ("d::/x:RO", "'RO' is not ro"),
                           ("d::x:rw", "'rw' is not ro"), ("d::x:ro:ro", "'ro' is not ro")):
            with self.subTest(flag):
                self.check_error(self.run_text(program(""), "--dir", flag), said, code=2)
