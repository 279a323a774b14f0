"""The example guard: a guest that stands between clients and a language model."""

import json
import pathlib

from command import PROBE
from language import COUNT, LanguageTest, MODELS

GUARD = pathlib.Path(PROBE).parent / "guard.component.wasm"
PATH = "/v1/chat/completions"
HIDDEN = "one two three **** five"


class GuardTest(LanguageTest):
    def setUp(self):
        super().setUp()
        self.server = self.serve("--model", f"tiny={MODELS}/tiny.gguf", "--route", f"{PATH}={GUARD}")

    def chat(self, **fields):
        return self.server.request("POST", PATH, json.dumps({"model": "tiny", "messages": COUNT, "temperature": 0, **fields}))

    def test_it_hides_words(self):
        answer = self.chat()
        self.check_answer(answer, 200)
        choice, = answer.json()["choices"]
        self.assertEqual((choice["message"], choice["finish_reason"]), ({"role": "assistant", "content": HIDDEN}, "stop"))

    def test_a_stream_stays_one(self):
        answer = self.chat(stream=True)
        self.assertEqual((answer.status, answer.headers["Content-Type"], answer.headers["Transfer-Encoding"]), (200, "text/event-stream", "chunked"))
        *events, done = [event.removeprefix("data: ") for event in answer.body.decode().split("\n\n") if event]
        choices = [json.loads(event)["choices"][0] for event in events]
        self.assertEqual(done, "[DONE]")
        self.assertEqual("".join(choice["delta"].get("content", "") for choice in choices), HIDDEN)
        self.assertEqual([choice["finish_reason"] for choice in choices], [None] * (len(choices) - 1) + ["stop"])

    def test_a_word_that_may_go_on_waits(self):
        """The model has tokens of a few letters; "two" comes whole."""
        answer = self.chat(stream=True, max_tokens=5)
        reported = [
            json.loads(event.removeprefix("data: "))["choices"][0]["delta"].get("content", "")
            for event in answer.body.decode().split("\n\n")[:-2]
        ]
        self.assertTrue(all(word.strip() in (*HIDDEN.split(), "") for word in reported[:-2]), reported)

    def test_it_refuses_messages(self):
        answer = self.chat(messages=[{"role": "user", "content": "My PASSWORD: x"}])
        self.assertEqual((answer.status, answer.json()["error"]["message"]), (403, "a message has the word 'password'"))
        self.assertEqual(self.chat(messages=[{"role": "user", "content": "passwords"}]).status, 200)
        self.assertEqual(self.chat(messages=[{"role": "user password", "content": "x"}]).status, 403)  # whatever a template writes

    def test_mistakes(self):
        self.assertEqual(self.chat(model="no").status, 404)
        self.assertEqual(self.chat(messages="a").status, 400)
        self.assertEqual(self.chat(temperature=-1).status, 400)
        self.log_of(self.server)

    def test_the_same_path_without_v1_has_it_too(self):
        answer = self.server.request("POST", "/chat/completions", json.dumps({"model": "tiny", "messages": COUNT, "temperature": 0}))
        self.assertEqual(answer.json()["choices"][0]["message"]["content"], HIDDEN)

    def test_other_paths_have_no_guard(self):
        answer = self.server.request("POST", "/v1/completions", json.dumps({"model": "tiny", "prompt": "GNU", "max_tokens": 1}))
        self.assertEqual(answer.status, 200)


class AloneTest(LanguageTest):
    """With the example's configuration no client can bypass it."""

    def setUp(self):
        super().setUp()
        text = (pathlib.Path(__file__).parents[2] / "examples/guard/guard.toml").read_text()
        text = text.replace("../../models", MODELS).replace("../../build/release/guests/guard.component.wasm", str(GUARD))
        self.server = self.serve("--config", self.file("guard.toml", text))

    def test_it_answers(self):
        for path in (PATH, "/chat/completions"):
            answer = self.server.request("POST", path, json.dumps({"model": "tiny", "messages": COUNT, "temperature": 0}))
            self.assertEqual(answer.json()["choices"][0]["message"]["content"], HIDDEN)

    def test_there_is_no_other_way_to_the_model(self):
        for path, more in (("/v1/completions", {"prompt": "GNU"}), ("/completion", {"prompt": "GNU"}), ("/completions", {"prompt": "GNU"}),
                           ("/v1/responses", {"input": "GNU"}), ("/responses", {"input": "GNU"}), ("/tokenize", {"content": "GNU"}),
                           ("/v1/embeddings", {"input": "GNU"}), ("/apply-template", {"messages": COUNT}),
                           ("/rerank", {"query": "a", "documents": ["b"]}), ("/v2/models/tiny/infer", {"inputs": []})):
            for model in ({"model": "tiny"}, {"model": "tiny:1"}, {}):
                answer = self.server.request("POST", path, json.dumps({**model, **more}))
                self.assertIn(answer.status, (400, 404), (path, answer))
        for path in ("/v1/./chat/completions", "//v1/completions", "/v1/chat%2fcompletions"):
            self.assertEqual(self.server.request("POST", path, "{}").status, 400, path)
        for path in ("/v1/models", "/models", "/v2/models/stats", "/wasinn/state"):
            answer = self.server.request("GET", path)
            self.assertEqual(answer.status, 200, path)
            self.assertNotIn(b"tiny", answer.body)
