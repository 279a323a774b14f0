"""wasinn run of components: what a guest gets, how it ends, and what is said of one that cannot run."""

import pathlib
import resource
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
from command import ECHO, SANITIZED, WASINN, CommandTest, longer_and_longer, until  # noqa: E402


HOST_MEMORY = 512 << 20
# Lines of models of the echo backend, and the names of 16.
FLOAT = "in x f32 1\n"
TEXT = "in x u8 -1 opaque\n"
SIXTEEN = "abcdefghijklmnop"


def guest(imports="0.2.0", export="0.2.0"):
    return (HERE / "guests" / "run.wat").read_text().replace("@IN@", imports).replace("@OUT@", export)


def limit_memory():
    """No guest may make its host need more than its limits allow. A sanitizer needs more itself."""
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_DATA, (HOST_MEMORY, HOST_MEMORY))


class ComponentTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("guest.wat", guest())

    def run_guest(self, *args, flags=(), **more):
        return self.wasinn("run", *flags, "guest.wat", *args, **more)

    def check_bad(self, text, error):
        self.file("guest.wat", text)
        self.check_error(self.run_guest(), error)


class RunTest(ComponentTest):
    def test_arguments_and_environment(self):
        result = self.run_guest("--dir", "", "a b", flags=["--env", "A=1", "--env", "EMPTY="])
        self.check(result, err="")
        self.assertEqual(result.out.splitlines(), ["A=1", "EMPTY=", "guest.wat", "--dir", "", "a b"])

    def test_the_environment_is_empty_but_for_the_flags(self):
        self.check(self.run_guest(env={"SECRET": "x"}), out="guest.wat\n", err="")

    def test_how_it_ends(self):
        for word, code in (("nothing", 0), ("fail", 1), ("exit", 1), ("quit", 0)):
            self.check(self.run_guest(word), code=code, out=f"guest.wat\n{word}\n", err="")

    def test_a_trap_has_its_message_and_backtrace(self):
        result = self.run_guest("trap")
        self.check(result, code=134, err="wasinn: error: guest.wat: wasm trap: wasm `unreachable` instruction executed\n")
        self.assertRegex(result.err, r"\nwasm backtrace:\n.* 0: .*trap\n.* 1: .*run")
        self.assertEqual(result.out, "guest.wat\ntrap\n")

    def test_a_guest_that_drops_nothing_meets_the_quota(self):
        result = self.run_guest("hoard")
        self.check(result, code=134, err="limit")
        self.assertIn("wasm backtrace", result.err)

    def test_versions_go_together_by_semver(self):
        for imports, export in (("0.2.0", "0.2.12"), ("0.2.12", "0.2.0"), ("0.2.3", "0.2.6"), ("0.2.1", "0.2.1")):
            self.file("guest.wat", guest(imports, export))
            self.check(self.run_guest(), out="guest.wat\n", err="")

    def test_a_binary(self):
        self.check_error(self.wasinn("run", self.file("guest.wasm", b"\0asm\x0d\0\1\0")), "exports no wasi:cli/run")

    def test_a_missing_folder(self):
        self.check_error(self.run_guest(flags=["--dir", "nowhere"]), "cannot open the folder nowhere")


class BadTest(ComponentTest):
    def test_what_is_missing_is_named(self):
        self.check_bad(guest().replace("2024-10-28", "2099-01-01"), "wasi:nn/tensor@0.2.0-rc-2099-01-01")
        self.check_bad(guest().replace("get-arguments", "get-nothing"), "get-nothing")
        self.check_bad(guest(imports="0.3.0"), "wasi:io/error@0.3.0")

    def test_another_signature(self):
        self.check_bad(guest().replace('"BF16" ', ""), "tensor")

    def test_no_run(self):
        for export in ("0.2.0-rc-2023-11-10", "1.0.0"):
            self.check_bad(guest(export=export), "exports no wasi:cli/run")
        self.check_bad("(component)", "exports no wasi:cli/run")
        self.check_bad('(component (instance $i) (export "wasi:cli/run@0.2.0" (instance $i)))', "exports no wasi:cli/run")

    def test_what_answers_requests(self):
        handler = '(component (core module $M (func (export "f"))) (core instance $m (instantiate $M)) (func $f (canon lift (core func $m "f")))'
        self.check_bad(handler + ' (instance $i (export "handle" (func $f))) (export "wasi:http/incoming-handler@0.2.0" (instance $i)))',
                       "so it is a library and not a program; it answers HTTP requests: `wasinn serve --route` runs it")

    def test_run_of_another_type(self):
        text = guest().replace('$run (result (result))', '$run (result u32)')
        self.check_bad(text, "wasi:cli/run")

    def test_broken(self):
        self.check_bad("(component (import))", "guest.wat: ")
        self.file("guest.wat", b"\0asm\x0d\0\1\0\xff\xff")
        self.check_error(self.run_guest(), "guest.wat: failed to parse WebAssembly")
        self.file("guest.wat", b"\0asm\x0e\0\1\0")
        self.check_error(self.run_guest(), "guest.wat: ")


class Wasi03Test(CommandTest):
    """The guest of guests/run03.wat does what its first argument's first letter says."""

    def setUp(self):
        super().setUp()
        self.write()

    def write(self, export="0.3.0", nn="2024-10-28"):
        self.file("guest.wat", (HERE / "guests" / "run03.wat").read_text().replace("@OUT@", export).replace("2024-10-28", nn))

    def run_guest(self, *args, flags=(), **more):
        return self.wasinn("run", *flags, "guest.wat", *args, **more)

    def test_arguments_and_streams(self):
        self.check(self.run_guest("-", "", "a b"), out="guest.wat\n-\n\na b\n", err="")
        text = b"0123456789abcdef" * 20_000  # more than its buffer and its pipe hold
        self.assertEqual(self.run_guest("copy", input=text).out, "guest.wat\ncopy\n" + text.decode())

    def test_how_it_ends(self):
        for word, code in (("-", 0), ("fail", 1), ("exit", 1), ("quit", 0)):
            self.check(self.run_guest(word), code=code, out=f"guest.wat\n{word}\n", err="")
        self.check(self.run_guest("trap"), code=134, out="guest.wat\ntrap\n", err="wasm `unreachable` instruction executed\n")

    def test_the_quotas_of_wasi_nn_hold(self):
        for version in ("2024-10-28", "2024-08-19", "2024-06-25"):
            self.write(nn=version)
            self.check(self.run_guest("hoard"), code=134, err="limits.max_tensors")

    def test_limits_of_memory_and_fuel_hold(self):
        self.check_error(self.run_guest(flags=["--max-memory", "32k"]), "over the limit of 32768")
        self.check(self.run_guest("yield", flags=["--fuel", "20000"]), code=134, out="yield\n", err="all fuel consumed")

    def test_versions_go_together_by_semver(self):
        self.write("0.3.7")
        self.check(self.run_guest("-"), out="-\n", err="")
        self.write("0.3.0-rc-2026-03-15")
        self.check_error(self.run_guest(), "which is a candidate of WASI 0.3; wasinn serves the release, 0.3.0")

    def test_compiled(self):
        self.check(self.wasinn("compile", "guest.wat", "-o", "guest.cwasm"), err="")
        self.check(self.wasinn("run", "--allow-precompiled", "guest.cwasm", "fail"), code=1, out="guest.cwasm\nfail\n", err="")

    def test_instances_of_a_pool(self):
        self.file("pool.toml", "[engine]\npool_instances = 4\n")
        self.check(self.run_guest("-", flags=["--config", "pool.toml"]), out="-\n", err="")

    def test_with_wasi_http(self):
        self.check(self.run_guest("fail", flags=["-S", "http"]), code=1, out="fail\n", err="")

    def test_a_stream_dropped_half_way_ends_there(self):
        self.check(self.run_guest("out"), out="guest.wat\nout\nhalf", err="")
        self.check(self.run_guest("byte", input=b"x" * 1_000_000), out="guest.wat\nbyte\nx", err="")

    def test_a_wait_that_cannot_end_is_a_trap(self):
        for word in ("unread", "await"):
            self.check(self.run_guest(word), code=134, out=f"{word}\n", err="deadlock detected")

    def test_the_number_of_streams_futures_and_tasks_is_limited(self):
        for word in ("streams", "never", "more", "grow"):
            with self.subTest(word=word):
                self.check(self.run_guest(word, prepare=limit_memory), code=134, out=f"{word}\n", err="resource table has no free keys")

    def test_the_deadline_ends_what_waits_and_what_goes_on(self):
        for word in ("wait", "yield", "left", "k6000"):
            with self.subTest(word=word):
                for timeout in longer_and_longer():
                    result = self.run_guest(word, flags=["--timeout", f"{timeout}ms"], prepare=limit_memory)
                    # On a busy machine the command may end itself before it could end the guest, so any message will do.
                    self.check(result, code=124)
                    if result.out == f"guest.wat\n{word}\n":  # else it had not begun yet
                        break


class Nn03Test(CommandTest):
    """The guest of guests/nn03.wat does what its first argument's first letter says, with models whose names are letters."""

    def setUp(self):
        super().setUp()
        self.file("guest.wat", (HERE / "guests" / "nn03.wat").read_text())
        self.models = {}

    def model(self, name, lines):
        self.models[name] = self.file(f"{name}.gguf", "GGUF\n" + lines)

    def gated(self, name, lines):
        """A model whose computes wait for their turns, and then until the test opens its gate."""
        self.model(name, lines + f"turns 0\ngate {self.dir / name}.gate\n")

    def words(self, word, flags):
        models = [flag for name, path in self.models.items() for flag in ("--model", f"{name}={path}")]
        return ["run", *models, *flags, "guest.wat", word]

    def run_guest(self, word, flags=()):
        return self.wasinn(*self.words(word, flags))

    def test_computes(self):
        self.model("a", FLOAT)
        self.check(self.run_guest("compute"), out="", err="")

    def test_sixteen_computes_of_an_instance_overlap(self):
        for name in SIXTEEN:
            self.gated(name, FLOAT)
        self.file("more.toml", f"backend_dirs = ['{ECHO}']\nmax_computes = 16\nmax_guest_computes = 16\n")
        words = self.words("overlap", ["--config", "more.toml"])
        program = subprocess.Popen([WASINN, *words], cwd=self.dir, env=self.env, stderr=subprocess.PIPE)
        with program:
            self.addCleanup(program.kill)
            until(lambda: program.poll() is not None or all((self.dir / f"{name}.gate.reached").exists() for name in SIXTEEN))
            for name in SIXTEEN:
                self.file(f"{name}.gate", "")
            self.assertEqual(program.stderr.read(), b"")
        self.assertEqual(program.returncode, 0)

    def test_a_context_is_in_use_until_its_compute_is_cancelled(self):
        self.gated("g", FLOAT)
        self.check(self.run_guest("busy"), out="", err="compute: busy: a compute or a generation goes on in this context")

    def test_streams(self):
        self.model("s", TEXT + "pieces 3\n")
        self.model("n", TEXT + "pieces 3\nroom 3\n")
        for word in ("stream", "drop"):
            with self.subTest(word=word):
                self.check(self.run_guest(word), out="", err="")
        self.check(self.run_guest("narrow"), out="", err="compute-stream: context_full: echo: no room is left")

    def test_a_guest_may_end_before_its_computes_and_streams(self):
        self.gated("g", FLOAT)
        self.model("s", TEXT + "pieces 3\n")
        self.gated("t", TEXT + "pieces 3\n")
        for word in ("leave", "unread", "read"):
            with self.subTest(word=word):
                self.check(self.run_guest(word), out="", err="")

    def test_the_deadline_ends_a_guest_that_waits(self):
        self.gated("g", FLOAT)
        for timeout in longer_and_longer():
            self.check(self.run_guest("wait", flags=["--timeout", f"{timeout}ms"]), code=124, out="")
            if (self.dir / "g.gate.reached").exists():
                break

    def test_compiled(self):
        self.model("a", FLOAT)
        self.check(self.wasinn("compile", "guest.wat", "-o", "guest.cwasm"), err="")
        words = [word.replace("guest.wat", "guest.cwasm") for word in self.words("compute", ["--allow-precompiled"])]
        self.check(self.wasinn(*words), out="", err="")


class InvokeTest(ComponentTest):
    def setUp(self):
        super().setUp()
        self.file("lib.wat", (HERE / "guests" / "functions.wat").read_text())

    def invoke(self, name, *args, flags=()):
        return self.wasinn("run", *flags, "--invoke", name, "lib.wat", *args)

    def check_endless(self, *flags):
        """On a busy machine the process may end before its guest, and then has other words."""
        def says():
            result = self.invoke("endless", flags=[*flags, "--timeout", "100ms"])
            self.check(result, code=124, out="")
            return "longer than it may" in result.err

        until(says)

    def test_values(self):
        for call, said in ((["add", "1", "4294967295"], "0"), (["half", "-3"], "-1.5"), (["same", "two words"], '"two words"'),
                           (["same", '"a\\n\\u{1f44b}"'], '"a\\n\N{WAVING HAND SIGN}"'), (["list", "[1, 2, 3]"], "[1, 2, 3]"),
                           (["turn", "(1, -2)"], "(-2, 1)"), (["positive", "7"], "ok(7)"), (["positive", "-7"], "err(-7)")):
            with self.subTest(call=call):
                self.assertEqual(self.invoke(*call).out, said + "\n", self.invoke(*call))
        self.check(self.invoke("nothing"), out="", err="")

    def test_a_call_as_wasmtime_has_it(self):
        self.check(self.invoke("add(2, 3)"), out="5\n", err="")
        self.check(self.invoke("test:library/one@1.2.0#inner(3)", "word"), out="1.5\n", err="")
        self.check_error(self.invoke("add(2)"), "'add(2)' does not fit add: ")
        self.check_error(self.invoke("add(2"), "'add(2' does not fit add: ")

    def test_functions_of_interfaces(self):
        self.check(self.invoke("inner", "3"), out="1.5\n", err="")
        self.check(self.invoke("test:library/one@1.2.0#both", "3"), out="1.5\n", err="")
        self.check(self.invoke("test:library/two@1.2.0#both"), out="", err="")
        self.check_error(self.invoke("both", "3"), "several interfaces have a function both; name one of: test:library/one@1.2.0#both, test:library/two@1.2.0#both")

    def test_errors(self):
        self.check_error(self.invoke("none"), "lib.wat: the component exports no function none")
        self.check_error(self.invoke("test:library/three#both"), "exports no function test:library/three#both")
        self.check_error(self.invoke("add", "1"), "add takes 2 values, and 1 were given")
        self.check_error(self.invoke("add", "1", "-1"), "'-1' is not a value of type u32: ")
        self.check_error(self.invoke("list", "[1, x]"), "'[1, x]' is not a value of type list<u32>: ")
        self.check_error(self.invoke("take", "1"), "take takes or returns a type that cannot be written as text, such as a resource")
        self.check(self.invoke("fails"), code=134, out="", err="wasm `unreachable` instruction executed")
        self.check_endless()

    def test_a_function_of_a_program(self):
        self.check(self.wasinn("run", "--invoke", "run", "guest.wat"), out="guest.wat\nok\n", err="")

    def test_with_wasi_http(self):
        self.check(self.invoke("add", "1", "2", flags=["-S", "http"]), out="3\n", err="")
        self.check(self.invoke("fails", flags=["-S", "http"]), code=134, out="", err="wasm `unreachable` instruction executed")
        self.check_endless("-S", "http")


class CacheTest(ComponentTest):
    def test_compiled_code_is_kept(self):
        env = {"XDG_CACHE_HOME": str(self.dir / "cache")}
        self.check(self.run_guest(env=env), err="")
        kept = list((self.dir / "cache").rglob("modules/*"))
        self.assertTrue(kept)
        self.check(self.run_guest(env=env), out="guest.wat\n", err="")
        for path in kept:
            path.write_bytes(b"broken")
        self.check(self.run_guest(env=env), out="guest.wat\n", err="")


class WithoutTest(ComponentTest):
    """With a Wasmtime that has no wasi:nn for components."""

    def test_one_line_says_how_to_get_it(self):
        self.check_error(self.run_guest(), "scripts/deps.sh wasmtime-component")
        self.check_error(self.wasinn("run", self.file("guest.wasm", b"\0asm\x0d\0\1\0")), "wasmtime-component")
