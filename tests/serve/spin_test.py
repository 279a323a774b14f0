"""A program for Spin, unchanged, with the adapter of its language models: it says what the model itself says."""

import json
import os
import pathlib
import unittest

from command import PROBE
from server import ServeTest

GUEST = pathlib.Path(PROBE).parent / "spin.component.wasm"  # guests/spin with guest/adapters/spin-llm
MODEL = pathlib.Path(os.environ["WASINN_MODELS"]) / "tiny.gguf"
# What Spin's SDK sets, but for what the program does.
OPTIONS = {"n-predict": 8, "temp": 0, "repeat-penalty": 1.1, "top-k": 40, "top-p": 0.9}


class SpinTest(ServeTest):
    def setUp(self):
        super().setUp()
        self.env["WASINN_CONFIG"] = ""  # llama.cpp, and not the echo
        self.server = self.serve("--model", f"tiny={MODEL}", "--route", f"/spin={GUEST}")

    def ask_spin(self, text, query="", model="tiny"):
        return self.server.request("POST", f"/spin/{model}{query}", text)

    def ask_model(self, text, options):
        """Without a guest."""
        inputs = [{"name": name, "datatype": "BYTES", "shape": [1], "data": [value]}
                  for name, value in (("prompt", text), ("options", json.dumps(options)))]
        answer = self.server.infer("tiny", {"inputs": inputs, "outputs": [{"name": "completion"}, {"name": "metadata"}]})
        self.check_answer(answer, 200)
        told = {output["name"]: output["data"][0] for output in answer.json()["outputs"]}
        return told["completion"], json.loads(told["metadata"])

    def test_it_infers(self):
        for tokens in (8, 3):
            completion, metadata = self.ask_model("once upon a time", {**OPTIONS, "n-predict": tokens})
            answer = self.ask_spin("once upon a time", f"?{tokens}")
            self.check_answer(answer, 200)
            self.assertEqual(answer.body.decode(), f"{completion}\n{metadata['input_tokens']} {metadata['output_tokens']}")

    def test_it_embeds(self):
        answer = self.ask_spin("one text\nanother", "?embed")
        self.check_answer(answer, 200)
        first, second, tokens = answer.body.decode().splitlines()
        wanted = [self.ask_model(text, {"embedding": True}) for text in ("one text", "another")]
        for line, (embedding, _) in zip((first, second), wanted):
            values = json.loads(embedding)["embedding"]
            count, _, begin = line.partition(" ")
            self.assertEqual(int(count), len(values))
            for told, value in zip(json.loads(begin), values):
                self.assertAlmostEqual(told, value, places=6)
        self.assertEqual(int(tokens), sum(metadata["input_tokens"] for _, metadata in wanted))

    def test_errors_are_spins(self):
        for text, model, status, words in (("a", "none", 404, b"not supported"), ("", "tiny", 400, b"prompt is empty"),
                                           ("a " * 100000, "tiny", 400, b"the context has 512")):
            answer = self.ask_spin(text, model=model)
            self.assertEqual(answer.status, status, answer)
            self.assertIn(words, answer.body)
        log = self.log_of(self.server)
        self.assertIn("no model is registered as 'none'", log)
        self.assertIn("the prompt is empty", log)


if __name__ == "__main__":
    unittest.main()
