"""wasinn demo: what comes with each package shows what wasinn does, by a command that a user can copy."""

import json
import pathlib
import shutil
import subprocess
import sys

from command import WASINN, CommandTest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PREFIX = pathlib.Path(WASINN).parents[1]
FOLDER = PREFIX / "share" / "wasinn" / "demo"
sys.path.insert(0, str(SOURCE / "examples" / "classify-component" / "python"))
import png  # noqa: E402


class DemoTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.env["WASINN_CONFIG"] = ""

    def printed(self, result):
        """The first line, which is a command."""
        line = result.out.splitlines()[0]
        self.assertTrue(line.startswith(f"$ {WASINN} "), result)
        return line.removeprefix("$ ")

    def moved(self, server='printf "%s\\n" "$@"'):
        """A prefix with a blank and a quote in its name, and a server that is this line of a shell."""
        prefix = self.dir / "it's a prefix"
        (prefix / "bin").mkdir(parents=True)
        for folder in ("lib", "share"):
            (prefix / folder).symlink_to(PREFIX / folder)
        shutil.copy(WASINN, prefix / "bin" / "wasinn")
        (prefix / "bin" / "wasinn-serve").write_text(f"#!/bin/sh\n{server}\n")
        (prefix / "bin" / "wasinn-serve").chmod(0o755)
        return prefix

    def test_a_guest_reads_digits_and_the_printed_command_does_so_again(self):
        result = self.wasinn("demo")
        self.check(result, out="images/0002_label-2.png\n", err="")
        self.assertRegex(result.out, r"\n +▀▄█ +2  █+▍? +97\.9 %\n")
        again = subprocess.run(["sh", "-c", self.printed(result)], cwd=self.dir, env=self.env, capture_output=True, text=True, check=True)
        pictures = result.out.split("\n", 1)[1].partition("  load ")[0]
        self.assertEqual(again.stdout.partition("  load ")[0], pictures)

    def test_a_prefix_that_a_shell_would_split(self):
        prefix = self.moved()
        env = {"LD_LIBRARY_PATH": str(PREFIX / "lib")}
        result = self.wasinn("demo", program=prefix / "bin" / "wasinn", env=env)
        self.check(result, out="97.9 %", err="")
        line = result.out.splitlines()[0]
        self.assertIn(r"'it'\''s a prefix/share/wasinn/demo/classify.wasm'", line)  # relative: it is in the working folder
        again = subprocess.run(["sh", "-c", line.removeprefix("$ ")], cwd=self.dir, env={**self.env, **env}, capture_output=True, text=True, check=True)
        self.assertIn("97.9 %", again.stdout)

    def serve(self, server, *flags):
        return self.wasinn("demo", "serve", *flags, program=self.moved(server) / "bin" / "wasinn", env={"LD_LIBRARY_PATH": str(PREFIX / "lib")})

    def test_a_server_and_the_request_to_type(self):
        result = self.serve('''printf 'serving HTTP on 127.0.0.1:81\\nserving metrics on 127.0.0.1:82\\n'; printf "%s\\n" "$@" >&2; exit 7''', "--http-port", "81")
        self.check(result, code=7, out="serving metrics on 127.0.0.1:82\n\nType this in another terminal; Ctrl-C ends the server.\n$ curl -d '@it")
        self.check(result, code=7, out="/share/wasinn/demo/images/0002_label-2.json' http://127.0.0.1:81/v2/models/digits/infer\n")
        self.assertEqual(result.err.splitlines()[-4:], ["--model", "digits=it's a prefix/share/wasinn/demo/digits.onnx", "--http-port", "81"])

    def test_a_server_that_does_not_listen_gets_no_request(self):
        result = self.serve("echo cannot listen >&2; exit 125")
        self.check(result, code=125, err="cannot listen\n")
        self.assertEqual(result.out.count("\n"), 1, result)

    def test_a_port_is_the_servers(self):
        self.check_error(self.wasinn("demo", "--http-port", "81"), "--http-port: is for `wasinn demo serve`", code=2)

    def test_the_request_has_the_image(self):
        (image,) = json.loads((FOLDER / "images" / "0002_label-2.json").read_text())["inputs"]
        width, height, gray = png.read_gray(FOLDER / "images" / "0002_label-2.png")
        self.assertEqual(image["shape"], [1, 1, height, width])
        self.assertEqual([round(value * 255) for value in image["data"]], list(gray))

    def test_a_language_model_that_is_not_here(self):
        result = self.wasinn("demo", "chat", program=self.moved() / "bin" / "wasinn", env={"LD_LIBRARY_PATH": str(PREFIX / "lib")})
        self.check_error(result, "SmolLM2 (94 MB) is not here; to get it: ")

    def test_its_files_are_small(self):
        self.assertLess(sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()), 300_000)

    def test_unknown(self):
        self.check_error(self.wasinn("demo", "fly"), "WHAT: fly not in {", code=2)
