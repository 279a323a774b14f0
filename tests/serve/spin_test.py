"""A program that asks language models by Spin's interface, over the adapter: it says what the model itself says."""

import json
import os
import pathlib

from command import PROBE
from server import ServeTest

GUEST = pathlib.Path(PROBE).parent / "spin.component.wasm"  # guests/spin.c with guest/adapters/spin-llm
MODEL = f"tiny={os.environ['WASINN_MODELS']}/tiny.gguf"
OPTIONS = {"temp": 0, "repeat-penalty": 1.1, "top-k": 40, "top-p": 0.9}


class SpinTest(ServeTest):
    def setUp(self):
        super().setUp()
        self.env["WASINN_CONFIG"] = ""  # llama.cpp, and not the echo

    def ask_spin(self, *args, code=0, model="tiny"):
        result = self.wasinn("run", "--model", MODEL, str(GUEST), model, *args)
        self.check(result, code=code)
        return result

    def ask_model(self, server, text, options):
        """Without a guest."""
        inputs = [{"name": name, "datatype": "BYTES", "shape": [1], "data": [value]}
                  for name, value in (("prompt", text), ("options", json.dumps(options)))]
        answer = server.infer("tiny", {"inputs": inputs, "outputs": [{"name": "completion"}, {"name": "metadata"}]})
        self.check_answer(answer, 200)
        reported = {output["name"]: output["data"][0] for output in answer.json()["outputs"]}
        return reported["completion"], json.loads(reported["metadata"])

    def test_it_infers(self):
        server = self.serve("--model", MODEL)
        for tokens in (8, 3):
            completion, metadata = self.ask_model(server, "once upon a time", {**OPTIONS, "n-predict": tokens})
            reported = self.ask_spin("infer", str(tokens), "once upon a time").out
            self.assertEqual(reported, f"{completion}\n{metadata['input_tokens']} {metadata['output_tokens']}")

    def test_it_embeds(self):
        server = self.serve("--model", MODEL)
        *lines, tokens = self.ask_spin("embed", "one text", "another").out.splitlines()
        wanted = [self.ask_model(server, text, {"embedding": True}) for text in ("one text", "another")]
        for line, (embedding, _) in zip(lines, wanted, strict=True):
            values = json.loads(embedding)["embedding"]
            count, _, begin = line.partition(" ")
            self.assertEqual(int(count), len(values))
            for reported, value in zip(json.loads(begin), values):
                self.assertAlmostEqual(reported, value, places=6)
        self.assertEqual(int(tokens), sum(metadata["input_tokens"] for _, metadata in wanted))

    def test_errors_are_spins(self):
        result = self.ask_spin("infer", "8", "a", code=1, model="none")
        self.check(result, code=1, out="not supported", err="no model is registered as 'none'")
        self.check(self.ask_spin("infer", "8", "", code=1), code=1, out="invalid input: ", err="the prompt is empty")
        self.check(self.ask_spin("infer", "8", "a " * 1000, code=1), code=1, out="the context has 512")
