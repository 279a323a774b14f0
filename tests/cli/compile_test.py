"""Programs compiled to native code: the right to run it, the machine that it is for, and refused files."""

import os
import resource

from command import MODEL, PROBE, SANITIZED, CommandTest

EXIT = '(module (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32))) (memory (export "memory") 1) %s)'
SEVEN = EXIT % '(func (export "_start") (call $exit (i32.const 7)))'
ENDLESS = '(module (memory (export "memory") 1) (func (export "_start") (loop $next (br $next))))'
GROWS = EXIT % '(func (export "_start") (call $exit (i32.and (i32.const 99) (memory.grow (i32.const 1)))))'
THREADS = """(module (import "env" "memory" (memory 1 4 shared)) (export "memory" (memory 0))
  (import "wasi" "thread-spawn" (func $spawn (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (func (export "wasi_thread_start") (param i32 i32) (call $exit (i32.const 9)))
  (func (export "_start") (drop (call $spawn (i32.const 0))) (loop $next (br $next))))"""
COMPONENT = """(component (core module $m (memory 1) (func (export "run") (result i32) %s))
  (core instance $i (instantiate $m)) (func $run (result (result)) (canon lift (core func $i "run")))
  (instance $run (export "run" (func $run))) (export "wasi:cli/run@0.2.0" (instance $run)))"""


class CompileTest(CommandTest):
    def compiled(self, text, *flags):
        """The file's path."""
        self.file("guest.wat", text)
        self.check(self.wasinn("compile", *flags, "guest.wat", "-o", "guest.cwasm"), out="", err="")
        return "guest.cwasm"

    def run_code(self, file, *flags, **more):
        return self.wasinn("run", "--allow-precompiled", *flags, file, **more)


class RunTest(CompileTest):
    def test_it_runs_only_where_it_may(self):
        file = self.compiled(SEVEN)
        self.check_error(self.wasinn("run", file),
                         "guest.cwasm: this is native code, which no sandbox confines: --allow-precompiled runs it (engine.allow_precompiled)")
        self.check(self.run_code(file), code=7, out="", err="")
        for value, code in (("true", 7), ("false", 125)):
            self.file("settings.toml", f"[engine]\nallow_precompiled = {value}\n")
            self.check(self.wasinn("run", "--config", "settings.toml", file), code=code)

    def test_what_it_is_and_not_what_it_is_called(self):
        os.rename(self.dir / self.compiled(SEVEN), self.dir / "guest.wasm")
        self.check_error(self.wasinn("run", "guest.wasm"), "this is native code")
        self.file("module.cwasm", SEVEN)
        self.check(self.wasinn("run", "module.cwasm"), code=7)

    def test_a_program_infers_as_before(self):
        self.file("m.gguf", MODEL)
        self.check(self.wasinn("compile", PROBE), out="", err="")
        result = self.run_code("cli-probe.cwasm", "--model", "m=m.gguf")
        self.check(result, code=self.run_probe(flags=["--model", "m=m.gguf"]).code)
        self.check(self.wasinn("run", "--allow-precompiled", "cli-probe.cwasm", "args", "x"), out="arg x")

    def test_a_guest_must_not_write_it(self):
        file = self.compiled(SEVEN)
        (self.dir / "data").mkdir()
        (self.dir / "data" / "link.cwasm").symlink_to(self.dir / file)
        for folder, path in ((".", file), (".::x", f"data/../{file}"), ("data", "data/link.cwasm")):
            with self.subTest(folder=folder, path=path):
                self.check_error(self.run_code(path, "--dir", folder), "and the guest may write to it, in the folder " + folder[:4].split(":")[0])
        self.check(self.run_code(file, "--dir", ".::x:ro"), code=7)
        self.check(self.run_code(file, "--dir", "data"), code=7)

    def test_nor_what_leads_to_it(self):
        (self.dir / "safe").mkdir()
        (self.dir / "data").mkdir()
        code = self.dir / "safe" / "code.cwasm"
        os.rename(self.dir / self.compiled(SEVEN), code)
        (self.dir / "first").symlink_to("data/second")
        (self.dir / "data" / "second").symlink_to("../safe/code.cwasm")
        self.check_error(self.run_code("first", "--dir", "data"), "and the guest may write to it, in the folder data")
        (self.dir / "folder").symlink_to("data/safe")
        (self.dir / "data" / "safe").symlink_to("../safe")
        self.check_error(self.run_code("folder/code.cwasm", "--dir", "data"), "in the folder data")
        self.check(self.run_code("safe/code.cwasm", "--dir", "data"), code=7)
        os.link(code, self.dir / "data" / "name")
        self.check_error(self.run_code("safe/code.cwasm", "--dir", "data"), "with no other name (hard link) there")
        self.check(self.run_code("safe/code.cwasm"), code=7)

    def test_no_cache_is_opened(self):
        file = self.compiled(SEVEN)
        self.env["XDG_CACHE_HOME"] = str(self.dir / "cache")
        self.check(self.run_code(file), code=7, err="")
        self.assertFalse((self.dir / "cache").exists())


class LimitsTest(CompileTest):
    def test_an_interruptible_one(self):
        plain = self.compiled(ENDLESS)
        self.check_error(self.run_code(plain, "--timeout", "100ms"), "it was compiled without --interruptible, so that --timeout could not end it")
        self.check(self.run_code(self.compiled(ENDLESS, "--interruptible"), "--timeout", "100ms"), code=124)
        self.check(self.run_code(self.compiled(SEVEN, "--interruptible")), code=7)

    def test_a_metered_one(self):
        plain = self.compiled(ENDLESS)
        self.check_error(self.run_code(plain, "--fuel", "1000"), "it was compiled without --metered, so that --fuel could not limit it")
        metered = self.compiled(ENDLESS, "--metered")
        self.check(self.run_code(metered, "--fuel", "1000"), code=134, err="all fuel consumed")
        self.check(self.run_code(self.compiled(SEVEN, "--metered")), code=7)
        self.check_error(self.run_code(metered, "--timeout", "100ms"), "--interruptible")

    def test_memory(self):
        file = self.compiled(GROWS)
        self.check(self.run_code(file), code=1)
        self.check(self.run_code(file, "--max-memory", "64K"), code=99)
        self.check_error(self.run_code(file, "--max-memory", "32K"), "the program begins with a memory of 65536 bytes, over the limit")

    def test_programs_with_threads(self):
        file = self.compiled(THREADS)
        self.check(self.run_code(file), code=9, err="")
        self.check(self.run_code(file, "--timeout", "1h"), code=9, err="")
        self.check_error(self.run_code(file, "--max-memory", "64K"), "over the limit of 65536")
        self.check_error(self.run_code(file, "--fuel", "1000"), "fuel cannot be limited for a program with threads")
        self.check_error(self.wasinn("compile", "--metered", "guest.wat"), "fuel cannot be limited for a program with threads")

    if "WASINN_HAS_COMPONENTS" in os.environ:

        def test_components(self):
            file = self.compiled(COMPONENT % "(i32.const 1)")
            self.check_error(self.wasinn("run", file), "this is native code")
            self.check(self.run_code(file), code=1, err="")
            self.check_error(self.run_code(file, "--max-memory", "32K"), "begins with a memory of 65536 bytes")
            endless = COMPONENT % "(loop $next (br $next)) (i32.const 0)"
            self.check(self.run_code(self.compiled(endless, "--interruptible"), "--timeout", "100ms"), code=124)


class RefusedTest(CompileTest):
    def test_programs_that_are_none(self):
        for content, text in (
            ("(module (func bla))", "guest.wat: "),
            ('(module (memory (export "memory") 1))', "exports no function _start"),
            ('(module (import "env" "f" (func)) (func (export "_start")))', "unknown import: `env::f`"),
            (b"\0aot\6\0\0\0", "only --engine wamr runs it"),
            (b"\x7fELF\2\1\1\0" + bytes(56), "is not a WebAssembly module"),
        ):
            with self.subTest(text=text):
                self.file("guest.wat", content)
                self.check_error(self.wasinn("compile", "guest.wat"), text)
                self.assertEqual(sorted(os.listdir(self.dir)), ["echo.toml", "guest.wat"])
        self.check_error(self.wasinn("compile", "missing.wasm"), "cannot open missing.wasm")
        self.check_error(self.wasinn("compile", self.compiled(SEVEN)), "guest.cwasm is compiled already")

    def test_files_that_cannot_be_written(self):
        self.file("guest.wat", SEVEN)
        self.check_error(self.wasinn("compile", "guest.wat", "-o", "none/x.cwasm"), "cannot write none/x.cwasm: No such file")
        (self.dir / "guest.cwasm").mkdir()
        self.check_error(self.wasinn("compile", "guest.wat"), "cannot write guest.cwasm: Is a directory")
        self.assertEqual(sorted(os.listdir(self.dir)), ["echo.toml", "guest.cwasm", "guest.wat"])

    def test_what_is_no_file_stays_what_it_is(self):
        self.file("guest.wat", SEVEN)
        os.mkfifo(self.dir / "pipe")
        reader = os.open(self.dir / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.check(self.wasinn("compile", "guest.wat", "-o", "pipe"), out="", err="")
        self.assertTrue((self.dir / "pipe").is_fifo())
        self.assertGreater(len(os.read(reader, 1000)), 0)

    def test_it_may_be_read_as_any_new_file(self):
        previous = os.umask(0o027)
        self.addCleanup(os.umask, previous)
        self.assertEqual((self.dir / self.compiled(SEVEN)).stat().st_mode & 0o777, 0o640)

    def test_usage_errors(self):
        self.check_error(self.wasinn("compile"), "MODULE is required", code=2)
        self.check_error(self.wasinn("compile", "--engine", "v8", "x.wasm"), "'v8' is not wasmtime or wamr", code=2)

    if "WASINN_HAS_WAMR" in os.environ:

        def test_wamr(self):
            file = self.compiled(SEVEN)
            self.check_error(self.wasinn("compile", "--engine", "wamr", "guest.wat"), "WAMR's own compiler is wamrc")
            self.check_error(self.run_code(file, "--engine", "wamr"), "Wasmtime's compiler made this: only --engine wasmtime runs it")
            self.file("guest.aot", b"\0aot\6\0\0\0")
            self.check_error(self.run_code("guest.aot", "--engine", "wamr", "--dir", "."), "the guest may write to it")


class PoolTest(CompileTest):
    """[engine] pool_instances, pool_memory_bytes."""

    def pool(self, **settings):
        lines = [f"{key} = {value}" for key, value in settings.items()]
        return ["--config", self.file("pool.toml", "\n".join(["[engine]", *lines]))]

    def run_text(self, text, *flags):
        return self.wasinn("run", *flags, self.file("guest.wat", text))

    def test_programs_run_from_a_pool(self):
        pool = self.pool(pool_instances=1)
        self.check(self.run_text(SEVEN, *pool), code=7, err="")
        self.check(self.run_text(THREADS, *pool), code=9, err="")  # which takes nothing from it
        self.check(self.run_text(ENDLESS, "--timeout", "100ms", *pool), code=124)
        if "WASINN_HAS_COMPONENTS" in os.environ:
            self.check(self.run_text(COMPONENT % "(i32.const 1)", *pool), code=1, err="")

    def test_limits_hold(self):
        pool = self.pool(pool_instances=1)
        self.check(self.run_text(GROWS, *pool), code=1)
        self.check(self.run_text(GROWS, "--max-memory", "64K", *pool), code=99)
        grows = EXIT % '(table $t 1 funcref) (func (export "_start") (call $exit (i32.and (i32.const 99) (table.grow $t (ref.null func) (i32.const %d)))))'
        self.check(self.run_text(grows % 10, *pool), code=1)
        self.check(self.run_text(grows % 10, "--max-table-elements", "5", *pool), code=99)
        self.check(self.run_text(grows % 40000, *pool), code=99)

    def test_the_pools_own_limits(self):
        pool = self.pool(pool_instances=1, pool_memory_bytes=65536)
        self.check(self.run_text(GROWS, *pool), code=99)
        two = SEVEN.replace('1)', '2)', 1)
        self.check_error(self.run_text(two, *pool), "memory has a minimum byte size of 131072 which exceeds the limit of 0x10000 bytes")

    def test_a_pool_that_is_full(self):
        pair = """(component (core module $a (memory 1)) (core module $m (memory 1) (func (export "run") (result i32) (i32.const 0)))
          (core instance $first (instantiate $a))
          (core instance $i (instantiate $m)) (func $run (result (result)) (canon lift (core func $i "run")))
          (instance $run (export "run" (func $run))) (export "wasi:cli/run@0.2.0" (instance $run)))"""
        if "WASINN_HAS_COMPONENTS" in os.environ:
            self.check(self.run_text(pair, *self.pool(pool_instances=2)), err="")
            self.check_error(self.run_text(pair, *self.pool(pool_instances=1)), "the engine's pool is full (engine.pool_instances)")

    def test_pools_that_the_system_has_no_room_for(self):
        more_than_a_process_has = self.pool(pool_instances=40000)
        self.check_error(self.run_text(SEVEN, *more_than_a_process_has),
                         "a pool for 40000 memories of 4294967296 bytes needs 161328.2 GiB of address space, which the system does not give")
        self.check_error(self.run_text(SEVEN, *self.pool(pool_instances=4294967295)), "is larger than the address space")
        self.check_error(self.run_text(SEVEN, *self.pool(pool_instances=1, pool_memory_bytes=2**63 - 1)), "more than memories can have")

    if not SANITIZED:  # which take more than that for themselves

        def test_pools_in_little_address_space(self):
            limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
            self.file("guest.wat", SEVEN)
            result = self.wasinn("run", *self.pool(pool_instances=1000), "guest.wat", prepare=limit)
            self.check_error(result, "needs 4033.3 GiB of address space, which the system does not give")
            small = self.pool(pool_instances=10, pool_memory_bytes=1 << 20)
            self.check(self.wasinn("run", *small, "guest.wat", prepare=limit), code=7)

    def test_code_is_for_memories_of_one_size(self):
        file = self.compiled(SEVEN)
        self.check(self.run_code(file, *self.pool(pool_instances=3)), code=7)
        small = self.pool(pool_instances=3, pool_memory_bytes=1 << 20)
        self.check_error(self.run_code(file, *small), "memory reservation of '4294967296' but '1048576' is expected")
        self.check(self.run_code(self.compiled(SEVEN, *small), *small), code=7)
