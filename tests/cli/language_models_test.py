"""The command's output about language models."""

import json
import os

from command import CommandTest

CHAT, LLAMA = os.environ["WASINN_CHAT"], os.environ["WASINN_LLAMA"]
STREAM = """(module
  (import "wasi_ephemeral_nn" "load_by_name" (func $load (param i32 i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "init_execution_context" (func $context (param i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "set_input" (func $set (param i32 i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "compute" (func $compute (param i32) (result i32)))
  (import "wasi_ephemeral_nn" "get_output" (func $output (param i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 100) "lm") (data (i32.const 200) "GNU General Public") (data (i32.const 300) "OPTIONS") (data (i32.const 102) "|")
  (func $tensor (param $index i32) (param $text i32) (param $size i32)
    (i32.store (i32.const 20) (local.get $size))
    (i32.store (i32.const 24) (i32.const 20)) (i32.store (i32.const 28) (i32.const 1)) (i32.store (i32.const 32) (i32.const 3))
    (i32.store (i32.const 36) (local.get $text)) (i32.store (i32.const 40) (local.get $size))
    (if (call $set (i32.load (i32.const 4)) (local.get $index) (i32.const 24)) (then unreachable)))
  (func $say (param $text i32) (param $size i32)
    (i32.store (i32.const 48) (local.get $text)) (i32.store (i32.const 52) (local.get $size))
    (drop (call $write (i32.const 1) (i32.const 48) (i32.const 1) (i32.const 56))))
  (func (export "_start")
    (if (call $load (i32.const 100) (i32.const 2) (i32.const 0)) (then unreachable))
    (if (call $context (i32.load (i32.const 0)) (i32.const 4)) (then unreachable))
    (call $tensor (i32.const 0) (i32.const 200) (i32.const 18))
    (call $tensor (i32.const 1) (i32.const 300) (i32.const SIZE))
    (if (i32.ne (call $compute (i32.load (i32.const 4))) (i32.const ERROR)) (then unreachable))
    (call $say (i32.const 102) (i32.const 1))
    (if (call $output (i32.load (i32.const 4)) (i32.const 0) (i32.const 65536) (i32.const 65536) (i32.const 8)) (then unreachable))
    (call $say (i32.const 65536) (i32.load (i32.const 8)))))"""
TINY = os.path.join(os.environ["WASINN_MODELS"], "tiny.gguf")


class LanguageModels(CommandTest):
    def setUp(self):
        super().setUp()
        self.env["WASINN_CONFIG"] = ""

    def test_a_guest_that_takes_a_text_piece_by_piece_computes(self):
        result = self.wasinn("check", f"lm={TINY}", CHAT, "--n-predict", "4", "GNU")
        self.check(result, code=0)
        self.assertRegex(result.out, r"\nfits: steps of a generation that went well: \d+, and no call failed\n")
        report = json.loads(self.wasinn("check", "--json", f"lm={TINY}", CHAT, "--n-predict", "4", "GNU").out)
        self.assertTrue(report["fits"])

    def test_a_guest_that_takes_a_text_of_another_model(self):
        result = self.wasinn("check", "--model", f"lm={TINY}", f"other={TINY}", CHAT, "--n-predict", "4", "GNU")
        self.check(result, code=1, out="not known whether it fits: the guest computed other models in this run")

    def stream(self, options, *flags, model=TINY, error=0):
        """A guest's stdout: the text as it comes, then "|", then the text of get_output. It traps if compute ends in another error."""
        text = STREAM.replace("OPTIONS", options.replace('"', '\\"')).replace("SIZE", str(len(options))).replace("ERROR", str(error))
        self.file("stream.wat", text)
        return self.wasinn("run", "--model", f"lm={model}", *flags, "stream.wat")

    def test_stream_stdout_writes_the_pieces_to_the_guests_stdout(self):
        quiet = self.stream('{"n-predict": 8, "temp": 0}')
        self.check(quiet, err="")
        self.assertRegex(quiet.out, r"^\|.")
        text = quiet.out[1:]
        for dialect in ("witx", "wasmedge"):
            self.check(self.stream('{"n-predict": 8, "temp": 0, "stream-stdout": true}', "--dialect", dialect), out=f"{text}|{text}", err="")
        self.check(self.stream('{"n-predict": 8, "temp": 0, "stream-stdout": false}'), out=f"|{text}", err="")

    def cut(self, options, model=TINY):
        """A text without an end, once its deadline lets the first token come."""
        endless = {"temp": 0, "n-predict": -1, "ignore-eos": True, "context-shift": True, **options}
        for milliseconds in (200 * 2 ** i for i in range(10)):
            result = self.stream(json.dumps(endless), "--nn-timeout", f"{milliseconds}ms", model=model, error=101)
            if result.code == 0:
                self.check(result, err=f"context_full: llama: the compute was stopped after {milliseconds} ms: the text was cut after ")
                self.assertIn("--nn-timeout", result.err)
                return result.out.split("|", 1)
        self.fail(result.err)

    def test_a_text_that_takes_longer_than_its_deadline_is_cut(self):
        start = self.stream('{"n-predict": 1, "temp": 0}').out[1:]
        for model in (TINY, f"{TINY},isolate=true"):
            printed, text = self.cut({}, model)
            self.assertEqual((printed, text[:len(start)]), ("", start))
        printed, text = self.cut({"stream-stdout": True})
        self.assertTrue(printed.startswith(start))
        self.assertEqual(printed, text)

    def test_what_is_no_text_is_not_streamed(self):
        self.check(self.stream('{"tokenize": true, "stream-stdout": true}'), out='|{"count":', err="")

    def test_options_that_are_wrong(self):
        result = self.wasinn("check", f"lm={TINY}", CHAT, "--grammar", "no grammar", "GNU")
        self.check(result, code=1, out="does not fit: calls that failed: ")

    def test_the_example_prints_its_speed(self):
        result = self.wasinn("run", "--model", f"lm={TINY}", CHAT, "--n-predict", "4", "GNU")
        self.assertRegex(result.err, r"3 tokens in, the first out after \S+ ms; 4 out, \S+ tokens/s\n$")

    def test_check_backend_is_for_models_of_tensors(self):
        result = self.wasinn("check-backend", LLAMA, TINY)
        self.check(result, code=1, out="the model is a language model, for it has the inputs 'prompt' and 'options'")
        self.assertEqual(result.out.count("FAIL"), 1, result)
        self.assertIn("A language model takes a prompt", self.wasinn("check-backend", "--help").out)
