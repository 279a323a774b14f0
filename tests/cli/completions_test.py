"""Completions in the shells themselves; and man pages."""

import os
import pty
import re
import select
import subprocess
import time

from command import MODEL, WAIT, CommandTest

COMMANDS = ("demo", "new", "run", "compile", "inspect", "models", "check", "backends", "doctor", "check-backend", "completions", "help")


class Terminal:
    """A program at a terminal."""

    def __init__(self, argv, cwd, env):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execvpe(argv[0], argv, env)
        self.seen = ""

    def type(self, text):
        os.write(self.terminal, text.encode())

    def read_until(self, text):
        end = time.monotonic() + WAIT
        while text not in self.seen:
            ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise AssertionError(f"no {text!r} in {self.seen!r}")
            self.seen += os.read(self.terminal, 65536).decode(errors="replace")

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


class Shell(Terminal):
    """A shell in which the command wasinn prints its words."""

    def words(self, line):
        """The command line after its tabs and then Enter were typed."""
        self.seen = ""
        self.type(line + "\r")
        self.read_until("\nend>")
        return re.search(r"\nwords<(.*)>\r?\nend>", self.seen).group(1).split("><")


class CompletionsTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.env["TERM"] = "dumb"
        self.file("model.gguf", MODEL)
        self.file("guest.wasm", "")
        self.file("two words.onnx", "")
        self.file("folder/file", "")

    def script(self, shell):
        result = self.wasinn("completions", shell)
        self.check(result, err="")
        return self.file(f"_wasinn.{shell}", result.out)

    def check_completes(self, shell):
        for typed, words in (
            ("wasinn check-b\t", ["check-backend"]),
            ("wasinn inspect --isol\t model.gguf", ["inspect", "--isolate", "model.gguf"]),
            ("wasinn inspect mod\t", ["inspect", "model.gguf"]),
            ("wasinn inspect two\t", ["inspect", "two words.onnx"]),
            ("wasinn run --engine wam\t", ["run", "--engine", "wamr"]),
            ("wasinn run --nn-load in-\tguest.wasm", ["run", "--nn-load", "in-process", "guest.wasm"]),
            ("wasinn run --model m=mod\tg\t", ["run", "--model", "m=model.gguf", "guest.wasm"]),
            ("wasinn run --dir fo\t guest.wasm", ["run", "--dir", "folder/", "guest.wasm"]),
            ("wasinn run --model m=model.gguf guest.wasm mod\t", ["run", "--model", "m=model.gguf", "guest.wasm", "model.gguf"]),
            ("wasinn run guest.wasm --eng\tx", ["run", "guest.wasm", "--engx"]),  # the guest's
            ("wasinn help ins\t", ["help", "inspect"]),
            ("wasinn models pu\t", ["models", "pull"]),
            ("wasinn completions f\t", ["completions", "fish"]),
        ):
            with self.subTest(typed=typed):
                self.assertEqual([word.rstrip("/") for word in shell.words(typed)], [word.rstrip("/") for word in words], shell.seen)

    def test_bash(self):
        self.file("rc", f"PS1='$ '; bind 'set enable-bracketed-paste off'\n. {self.script('bash')}\n" + PRINTS + "printf 'rea''dy\\n'\n")
        shell = Shell(["bash", "--noprofile", "--rcfile", "rc", "-i"], self.dir, self.env)
        self.addCleanup(shell.close)
        shell.read_until("ready")
        self.check_completes(shell)

    def test_zsh(self):
        os.rename(self.dir / self.script("zsh"), self.dir / "_wasinn")
        self.file(".zshrc", "PS1='$ '; unsetopt ZLE_BRACKETED_PASTE 2>/dev/null; fpath=($PWD $fpath)\nautoload -U compinit; compinit -u -D\n" + PRINTS + "printf 'rea''dy\\n'\n")
        shell = Shell(["zsh", "-d", "-i"], self.dir, {**self.env, "ZDOTDIR": str(self.dir)})
        self.addCleanup(shell.close)
        shell.read_until("ready")
        self.check_completes(shell)

    def test_fish(self):
        script = self.script("fish")

        def completed(line):
            command = f"source {script}; complete --do-complete '{line}'"
            done = subprocess.run(["fish", "--no-config", "-c", command], cwd=self.dir, env=self.env, capture_output=True, text=True, timeout=WAIT)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return [row.split("\t")[0] for row in done.stdout.splitlines()]

        self.assertLessEqual({*COMMANDS, "bench", "serve"}, set(completed("wasinn ")))
        for line, words in (
            ("wasinn inspect --enc", ["--encoding"]),
            ("wasinn run --engine wam", ["wamr"]),
            ("wasinn run --engine=wam", ["--engine=wamr"]),
            ("wasinn run --dir fo", ["folder/"]),
            ("wasinn inspect mod", ["model.gguf"]),
            ("wasinn run gue", ["guest.wasm"]),
            ("wasinn help ins", ["inspect"]),
            ("wasinn completions f", ["fish"]),
        ):
            with self.subTest(line=line):
                self.assertEqual(completed(line), words)

    def test_flags_of_other_programs(self):
        for shell in ("bash", "zsh", "fish"):
            self.assertRegex(self.wasinn("completions", shell).out, r"concurrency")

    def test_unknown_shell(self):
        self.check_error(self.wasinn("completions", "tcsh"), "tcsh", code=2)
        self.check_error(self.wasinn("completions"), "SHELL is required", code=2)


PRINTS = "wasinn() { printf 'words'; printf '<%s>' \"$@\"; printf '\\nend>\\n'; }\n"


class ManTest(CommandTest):
    def check_page(self, page, name):
        self.assertIn(f".TH {name.upper().replace('-', chr(92) + '-')} 1 ", page)
        lint = subprocess.run(["mandoc", "-Tlint", "-W", "warning"], input=page.encode(), capture_output=True, timeout=WAIT)
        complaints = [line for line in lint.stdout.decode().splitlines() if "missing date" not in line]
        self.assertEqual(complaints, [], page)
        groff = subprocess.run(["groff", "-ww", "-man", "-Tutf8"], input=page.encode(), capture_output=True, timeout=WAIT)
        self.assertEqual((groff.returncode, groff.stderr.decode()), (0, ""))
        return re.sub(r"\x1b\[[0-9;]*m|.\x08", "", groff.stdout.decode())

    def test_pages(self):
        self.check(self.wasinn("help", "--man-pages", "man"), out="", err="")
        pages = {path.stem: path.read_text() for path in (self.dir / "man").iterdir()}
        self.assertEqual(set(pages), {"wasinn", "wasinn-bench", "wasinn-serve", *(f"wasinn-{name}" for name in COMMANDS)})
        for name, page in pages.items():
            with self.subTest(name=name):
                self.check_page(page, name)
        self.assertIn("--concurrency", self.check_page(pages["wasinn-bench"], "wasinn-bench"))

    def test_a_page_has_what_help_has(self):
        page = self.check_page(self.wasinn("help", "--man", "run").out, "wasinn-run")
        help_ = self.wasinn("run", "--help").out
        flags = re.findall(r"^  (-[^ ]+)", help_, re.MULTILINE)
        self.assertGreater(len(flags), 20)
        for flag in flags:
            self.assertIn(flag.replace(",", ", "), page)
        self.assertIn("Environment: WASINN_NN_TIMEOUT", page)
        self.assertIn("wasinn run --model digits=digits.onnx --dir . classify.wasm photo.png", page)

    def test_a_folder_that_cannot_be_written(self):
        self.file("file", "")
        self.check_error(self.wasinn("help", "--man-pages", "file"), "cannot write file/wasinn-")


class HelpCommandTest(CommandTest):
    def test_help_is_that_of_the_flag(self):
        self.assertEqual(self.wasinn("help").out, self.wasinn("--help").out)
        for command in (*COMMANDS, "bench"):
            self.assertEqual(self.wasinn("help", command).out, self.wasinn(command, "--help").out)

    def test_unknown_command(self):
        self.check_error(self.wasinn("help", "fly"), "unknown command fly", code=2)
        self.check_error(self.wasinn("help", "--man", "fly"), "unknown command fly", code=2)
