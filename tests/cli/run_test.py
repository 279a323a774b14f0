"""A guest's environment: arguments, variables, folders, stdio; and its exit code."""

import os
import resource

from command import SANITIZED, CommandTest


class RunTest(CommandTest):
    def test_everything_after_the_module_goes_to_the_guest(self):
        args = ["args", "--dir", ".", "--help", "--", "[1,2]", "", "-S", "x=y"]
        result = self.run_probe(*args)
        self.check(result, err="")
        self.assertEqual(result.out.splitlines(), ["arg cli-probe.wasm"] + [f"arg {arg}" for arg in args])

    def test_exit_code_is_the_guests(self):
        for code in (0, 1, 2, 7, 125):
            self.check(self.run_probe("exit", str(code)), code=code, out="", err="")

    def test_stdin_and_stdout(self):
        self.check(self.run_probe("stdin", input=b"a\nb\n"), out="a\nb\n", err="")

    def test_environment_is_empty_but_for_the_flags(self):
        self.check(self.run_probe("env"), out="", err="")
        flags = ["--env", "A=1", "--env", "B=x=y", "--env", "EMPTY=", "--env", "HOST"]
        result = self.run_probe("env", flags=flags, env={"HOST": "inherited"})
        self.assertEqual(result.out.splitlines(), ["env A=1", "env B=x=y", "env EMPTY=", "env HOST=inherited"])

    def test_folder_under_its_own_name(self):
        self.file("data/text", "hello")
        self.check(self.run_probe("read", "data/text", flags=["--dir", "data"]), out="file hello", err="")
        self.check(self.run_probe("read", "data/text", flags=["--dir", "."]), out="file hello", err="")

    def test_folder_under_another_name(self):
        self.file("data/text", "hello")
        self.check(self.run_probe("read", "/in/text", flags=["--dir", "data::/in"]), out="file hello", err="")
        absolute = f"{self.dir}/data::/in"
        self.check(self.run_probe("read", "/in/text", flags=["--dir", absolute]), out="file hello", err="")

    def test_folder_with_one_colon(self):
        self.file("data/text", "hello")
        self.file("a:b/text", "with a colon")
        for flags in (["--dir", ".:."], ["--dir=.:."]):
            self.check(self.run_probe("read", "data/text", flags=flags), out="file hello", err="")
        # Either order, where only one of the two is a folder.
        for mapping in ("data:/in", "/in:data"):
            self.check(self.run_probe("read", "/in/text", flags=["--dir", mapping]), out="file hello", err="")
        self.check(self.run_probe("read", "a:b/text", flags=["--dir", "a:b"]), out="file with a colon", err="")
        for mapping in ("data:.", ".:data", "no:where", "data:", ":data", "data:/in:readonly"):
            result = self.run_probe("args", flags=["--dir", mapping])
            self.check_error(result, f"'{mapping}' is not HOST[::GUEST]", code=2)
            self.check(result, code=2, err="write HOST::GUEST")

    def test_folder_can_be_written(self):
        self.check(self.run_probe("write", "new", flags=["--dir", "."]), err="")
        self.assertEqual((self.dir / "new").read_text(), "written by a guest")

    def test_nothing_outside_of_the_folders(self):
        self.file("data/text", "hello")
        self.file("secret", "hello")
        self.check(self.run_probe("read", "data/text"), code=3, out="")
        for path in ("data/../secret", "/etc/passwd"):
            self.check(self.run_probe("read", path, flags=["--dir", "data"]), code=3, out="")

    def test_missing_folder(self):
        self.check_error(self.run_probe("args", flags=["--dir", "nowhere"]), "cannot open the folder nowhere")

    def test_a_module_in_text_format(self):
        self.file("guest.wat", '(module (memory (export "memory") 1) (func (export "_start")))')
        self.check(self.wasinn("run", "guest.wat"), out="", err="")

    def test_the_module_may_be_named_like_a_command(self):
        self.file("inspect", '(module (func (export "_start")))')
        self.check(self.wasinn("run", "inspect"), out="", err="")


class SettingsTest(CommandTest):
    def test_mistakes_in_the_settings_are_reported_before_anything_is_compiled(self):
        self.file("bad.toml", "[limits]\nmax_grahps = 1\n")
        self.file("broken.wasm", b"\0asm\1\0\0\0" + bytes(100))
        for flags in (["--config", "bad.toml"], ["--config", "nothing.toml"]):
            result = self.wasinn("run", *flags, "broken.wasm")
            self.check(result, code=125, out="", err=flags[1])
            self.assertNotIn("broken.wasm", result.err)

    if not SANITIZED:  # whose allocator ends the program itself

        def test_out_of_memory_is_no_trap(self):
            (self.dir / "huge.wasm").touch()
            os.truncate(self.dir / "huge.wasm", 1 << 30)
            limit = 800 << 20
            prepare = lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))  # noqa: E731
            self.check_error(self.wasinn("run", "huge.wasm", prepare=prepare), "out of memory")

        def test_a_file_that_has_no_end(self):
            self.check_error(self.wasinn("run", "/dev/zero"), "/dev/zero has more than 1073741824 bytes")
