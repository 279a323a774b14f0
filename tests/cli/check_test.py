"""wasinn check: whether a model and a guest fit."""

import json
import os
import signal
import subprocess

from command import MODEL, PROBE, WAIT, WASINN, CommandTest, until

LOOP = '(module (memory (export "memory") 1) (func (export "_start") (loop $l (br $l))))'
# Says so, and never ends.
READY = """(module (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1) (data (i32.const 0) "\\10\\00\\00\\00\\06\\00\\00\\00") (data (i32.const 16) "ready\\n")
  (func (export "_start") (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))) (loop $l (br $l))))"""


class CheckTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("m.gguf", MODEL)

    def check_model(self, model, *args, flags=(), guest=PROBE, code, fits=None):
        """`fits`: its value in the report, if that does not follow from the code."""
        result = self.wasinn("check", "--json", *flags, model, guest, *args)
        self.assertEqual(result.code, code, result)
        report = json.loads(result.out)
        self.assertIs(report["fits"], {"?": None, None: code == 0}[fits])
        return report

    def test_fits(self):
        report = self.check_model("m.gguf", "infer", "m", code=0)
        self.assertEqual((report["model"], report["failed_calls"], report["run"]["computes"]), ("m", [], 1))
        self.assertIn("wasi_ephemeral_nn.set_input", report["imports"])
        result = self.wasinn("check", "--env", "A=1", "other=m.gguf", PROBE, "infer", "other", "env")
        self.check(result, out="model other\n  in   x f32 [2, 3]\n", err="env A=1")
        self.check(result, out="fits: computes that went well: 1, and no call failed\n")
        self.assertNotIn("infer other", result.out, "what the guest writes")

    def test_another_shape(self):
        self.file("m.gguf", "GGUF\nin x f32 2,4\n")
        report = self.check_model("m.gguf", "infer", "m", "infer", "m", code=1)
        self.assertEqual(
            report["failed_calls"], ["set_input: invalid_argument: input 'x' takes f32 [2, 4], given f32 [2, 3]"]
        )
        self.check(self.wasinn("check", "m.gguf", PROBE, "infer", "m"), code=1, out="does not fit: calls that failed: 1\n")

    def test_another_type(self):
        self.file("m.gguf", "GGUF\nin x i64 2,3\n")
        (call,) = self.check_model("m.gguf", "infer", "m", code=1)["failed_calls"]
        self.assertIn("takes i64 [2, 3], given f32 [2, 3]", call)

    def test_another_name(self):
        (call,) = self.check_model("m.gguf", "infer", "digits", code=1)["failed_calls"]
        self.assertIn("no model is registered as 'digits': there is 'm'", call)

    def test_what_is_not_known(self):
        self.assertIn("computed nothing", self.check_model("m.gguf", code=1, fits="?")["why"])
        self.check(self.wasinn("check", "m.gguf", PROBE), code=1, out="not known whether it fits: the guest computed nothing in this run; "
                   "which arguments, which folder (--dir) or what on its standard input does it want?\n")
        self.file("none.wat", '(module (memory (export "memory") 1) (func (export "_start")))')
        self.assertIn("does not import wasi-nn", self.check_model("m.gguf", guest="none.wat", code=1)["why"])

    def test_a_folder_that_the_guest_has_not(self):
        (self.dir / "images").mkdir()
        self.file("images/a.png", "x")
        for arg, folder in (("images/a.png", "images"), ("images", "images"), ("m.gguf", "."), (str(self.dir / "images/a.png"), str(self.dir / "images"))):
            self.assertIn(
                f"does `--dir {folder}` help?", self.check_model("m.gguf", "args", arg, code=1, fits="?")["why"], arg
            )
        for given in ("images", ".", "images::images", "images::."):
            self.assertIn(
                "which arguments, which folder (--dir)",
                self.check_model("m.gguf", "args", "images/a.png", flags=("--dir", given), code=1, fits="?")["why"],
                given,
            )
        self.assertIn(
            "which arguments, which folder (--dir)",
            self.check_model("m.gguf", "args", "none.png", code=1, fits="?")["why"],
        )

    def test_another_model_that_computes(self):
        self.file("other.gguf", MODEL)
        report = self.check_model("m.gguf", "infer", "other", flags=["--model", "other=other.gguf"], code=1, fits="?")
        self.assertEqual(report["why"], "the guest computed other models in this run (1 times), and never 'm'")
        self.check_model("m.gguf", "infer", "m", "infer", "other", flags=["--model", "other=other.gguf"], code=0)

    def test_a_name_is_no_line_of_its_own(self):
        result = self.wasinn("check", "m\n\x1b[31mfits, yes=m.gguf", PROBE)
        self.check(result, code=1, out=r"model m\x0a\x1b[31mfits, yes")
        self.assertNotIn("\x1b", result.out)
        self.file("m\nfits.gguf", MODEL)
        self.check(self.wasinn("inspect", "m\nfits.gguf"), out=r"m\x0afits.gguf (ggml)")

    def test_a_guest_that_fails(self):
        report = self.check_model("m.gguf", "infer", "m", "trap", code=1)
        self.assertEqual((report["run"]["outcome"], report["run"]["exit_code"]), ("trapped", 134))
        self.file("loop.wat", LOOP)
        until(lambda: self.ends_with_a_verdict("loop.wat"))

    def ends_with_a_verdict(self, guest):
        """On a busy machine the process may end before."""
        result = self.wasinn("check", "--json", "--timeout", "200ms", "m.gguf", guest)
        if result.code == 124:
            return False
        report = json.loads(result.out)
        self.assertEqual((result.code, report["fits"], report["run"]["exit_code"]), (1, False, 124))
        return True

    def test_a_signal_is_no_verdict(self):
        self.file("ready.wat", READY)
        for number in (signal.SIGINT, signal.SIGTERM):
            child = subprocess.Popen([WASINN, "check", "--timeout", "1h", "m.gguf", "ready.wat"], cwd=self.dir, env=self.env,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.addCleanup(child.kill)
            self.assertEqual(child.stderr.readline(), b"ready\n")
            child.send_signal(number)
            out, err = child.communicate(timeout=WAIT)
            self.assertEqual((child.returncode, out, err), (128 + number, b"", b""))

    def test_errors(self):
        self.check_error(self.wasinn("check"), "MODEL", code=2)
        self.check_error(self.wasinn("check", "m.gguf"), "GUEST is required", code=2)
        self.check_error(self.wasinn("check", "m.gguf", "-"), "GUEST: is a file", code=2)
        self.check_error(self.wasinn("check", "nowhere.gguf", PROBE), "nowhere.gguf does not exist")
        self.check_error(self.wasinn("check", "m.gguf", "nowhere.wasm"), "cannot open nowhere.wasm")
        self.file("bad.gguf", "GGUF\nfail_load 5\n")
        self.check(self.wasinn("check", "bad.gguf", PROBE), code=125, out="", err="bad")

    if "WASINN_HAS_WAMR" in os.environ:

        def test_on_wamr(self):
            self.assertEqual(
                self.check_model("m.gguf", "infer", "m", flags=["--engine", "wamr"], code=0)["run"]["engine"], "wamr"
            )
