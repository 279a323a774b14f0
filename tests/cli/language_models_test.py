"""What the command says of language models."""

import json
import os
import unittest

from command import CommandTest

CHAT, LLAMA = os.environ["WASINN_CHAT"], os.environ["WASINN_LLAMA"]
TINY = os.path.join(os.environ["WASINN_MODELS"], "tiny.gguf")


class LanguageModels(CommandTest):
    def setUp(self):
        super().setUp()
        self.env["WASINN_CONFIG"] = ""

    def test_a_guest_that_takes_a_text_piece_by_piece_computes(self):
        result = self.wasinn("check", f"lm={TINY}", CHAT, "--n-predict", "4", "GNU")
        self.check(result, code=0)
        self.assertRegex(result.out, r"\nfits: steps of a generation that went well: \d+, and no call failed\n")
        told = json.loads(self.wasinn("check", "--json", f"lm={TINY}", CHAT, "--n-predict", "4", "GNU").out)
        self.assertTrue(told["fits"])

    def test_a_guest_that_takes_a_text_of_another_model(self):
        result = self.wasinn("check", "--model", f"lm={TINY}", f"other={TINY}", CHAT, "--n-predict", "4", "GNU")
        self.check(result, code=1, out="not known whether it fits: the guest computed other models in this run")

    def test_options_that_are_wrong(self):
        result = self.wasinn("check", f"lm={TINY}", CHAT, "--grammar", "no grammar", "GNU")
        self.check(result, code=1, out="does not fit: calls that failed: ")

    def test_the_example_tells_how_fast_it_is(self):
        result = self.wasinn("run", "--model", f"lm={TINY}", CHAT, "--n-predict", "4", "GNU")
        self.assertRegex(result.err, r"3 tokens in, the first out after \S+ ms; 4 out, \S+ tokens/s\n$")

    def test_check_backend_is_for_models_of_tensors(self):
        result = self.wasinn("check-backend", LLAMA, TINY)
        self.check(result, code=1, out="the model is a language model, for it has the inputs 'prompt' and 'options'")
        self.assertEqual(result.out.count("FAIL"), 1, result)
        self.assertIn("A language model takes a prompt", self.wasinn("check-backend", "--help").out)


if __name__ == "__main__":
    unittest.main()
