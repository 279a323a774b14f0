"""wasinn run of components: what a guest gets, how it ends, and what is said of one that cannot run."""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
from command import CommandTest  # noqa: E402


def guest(imports="0.2.0", export="0.2.0"):
    return (HERE / "guests" / "run.wat").read_text().replace("@IN@", imports).replace("@OUT@", export)


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
        for export in ("0.3.0", "0.2.0-rc-2023-11-10", "1.0.0"):
            self.check_bad(guest(export=export), "exports no wasi:cli/run")
        self.check_bad("(component)", "exports no wasi:cli/run")
        self.check_bad('(component (instance $i) (export "wasi:cli/run@0.2.0" (instance $i)))', "exports no wasi:cli/run")

    def test_run_of_another_type(self):
        text = guest().replace('$run (result (result))', '$run (result u32)')
        self.check_bad(text, "wasi:cli/run")

    def test_broken(self):
        self.check_bad("(component (import))", "guest.wat: ")
        self.file("guest.wat", b"\0asm\x0d\0\1\0\xff\xff")
        self.check_error(self.run_guest(), "guest.wat: failed to parse WebAssembly")
        self.file("guest.wat", b"\0asm\x0e\0\1\0")
        self.check_error(self.run_guest(), "guest.wat: ")


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


if __name__ == "__main__":
    unittest.main()
