"""A component in Rust, by wit-bindgen, that infers with wasi:nn@0.3.0-draft next to an older version."""

import os
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
from command import CommandTest  # noqa: E402

GUEST = os.environ["WASINN_NN03"]
DIGITS = os.environ.get("WASINN_DIGITS")


class Nn03Test(CommandTest):
    def run_guest(self, *words, models, flags=()):
        files = [f"{name}={self.file(name + '.gguf', 'GGUF' + chr(10) + lines)}" for name, lines in models.items()]
        return self.wasinn("run", *(flag for model in files for flag in ("--model", model)), *flags, GUEST, *words)

    def test_both_versions_compute_the_same(self):
        self.check(self.run_guest("same", "m", "x", "2,3", models={"m": "in x f32 2,3\n"}), out="24 bytes are the same\n", err="")

    @unittest.skipUnless(DIGITS, "needs ONNX Runtime")
    def test_both_versions_compute_the_same_with_onnx_runtime(self):
        del self.env["WASINN_CONFIG"]
        result = self.run_guest("same", "digits", "image", "1,1,8,8", models={}, flags=["--model", f"digits={DIGITS}"])
        self.check(result, out="40 bytes are the same\n", err="")

    def test_computes_that_are_dropped(self):
        models = {"m": "in x f32 1\n", "slow": f"in x f32 1\nturns 0\ngate {self.dir}/never\n"}
        self.check(self.run_guest("drop", "m", "slow", models=models), out="a compute or a generation goes on in this context\ndropped\n", err="compute: busy: ")

    def test_a_stream(self):
        models = {"s": "in x u8 -1 opaque\npieces 4\n", "n": "in x u8 -1 opaque\npieces 4\nroom 4\n"}
        self.check(self.run_guest("speak", "s", "x", "one two", models=models), out="x: one \nx: two\n", err="")
        self.check(self.run_guest("speak", "n", "x", "one two", models=models), code=1, out="x: one \necho: no room is left")

    def test_a_stream_ends_with_its_context(self):
        models = {"s": "in x u8 -1 opaque\npieces 4\n"}
        self.check(self.run_guest("orphan", "s", "x", "one two", models=models), code=1, out="one \nthe compute was cancelled, since its context or guest was closed: ")

    def test_pieces_of_a_stream_and_of_generate_are_the_same(self):
        models = {"s": "in prompt u8 -1 opaque\nin options u8 -1 opaque\npieces 4\n"}
        for word in ("stream", "generate"):
            self.check(self.run_guest(word, "s", "8", "one two", models=models), out="begin\nfirst\n2 one two\n", err="")

    def test_as_many_computes_as_a_guest_may_have_contexts(self):
        models = {"slow": f"in x f32 1\nturns 0\ngate {self.dir}/never\n"}
        self.file("more.toml", "limits.max_contexts = 1000\n" + (self.dir / "echo.toml").read_text())
        self.check(self.run_guest("hoard", "slow", models=models, flags=["--config", "more.toml"]), out="1000 go on\n")
