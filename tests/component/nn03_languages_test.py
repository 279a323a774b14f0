"""Components in C, by wasi_nn_async.h, and in Python, by componentize-py, that infer with wasi:nn@0.3.0-draft."""

import concurrent.futures
import os
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
from command import CommandTest, until  # noqa: E402

FLOAT = "in x f32 1\n"
TEXT = "in x u8 -1 opaque\npieces 4\n"


class Guest:
    def run_guest(self, *words, models):
        files = [f"{name}={self.file(name + '.gguf', 'GGUF' + chr(10) + lines)}" for name, lines in models.items()]
        return self.wasinn("run", *(flag for model in files for flag in ("--model", model)), "--max-memory", "1G", self.GUEST, *words)

    def gated(self, name):
        return f"{FLOAT}turns 0\ngate {self.dir / name}.gate\n"

    def test_computes_overlap(self):
        with concurrent.futures.ThreadPoolExecutor(1) as thread:
            result = thread.submit(self.run_guest, "add", "g", "h", "m", models={"g": self.gated("g"), "h": self.gated("h"), "m": FLOAT})
            for name in "gh":
                until(lambda name=name: result.done() or (self.dir / f"{name}.gate.reached").exists())
            for name in "hg":
                self.file(f"{name}.gate", "")
            self.check(result.result(), out="6\n")

    def test_a_stream(self):
        self.check(self.run_guest("speak", "s", "one two", models={"s": TEXT}), out="x: one \nx: two\n")

    def test_errors(self):
        self.check(self.run_guest("speak", "s", "one two", models={"s": TEXT + "room 4\n"}), code=1, out="echo: no room is left")
        self.check(self.run_guest("add", "none", models={}), code=1, out="no model is registered as 'none'")


class InC(Guest, CommandTest):
    GUEST = os.environ["WASINN_NN03_C"]

    def test_computes_go_on(self):
        result = self.run_guest("cancel", "g", "m", models={"g": self.gated("g"), "m": FLOAT})
        self.check(result, out="3: a compute or a generation goes on in this context\ncancelled\n7\n")

    def test_a_stream_that_is_dropped(self):
        self.check(self.run_guest("begin", "s", "one two", models={"s": TEXT}), out="x: one \n", err="")


@unittest.skipUnless("WASINN_NN03_PYTHON" in os.environ, "needs componentize-py")
class InPython(Guest, CommandTest):
    GUEST = os.environ.get("WASINN_NN03_PYTHON")


if __name__ == "__main__":
    unittest.main()
