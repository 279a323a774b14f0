"""Guests whose language model is on another server get the same answers as from a local model."""

import json
import os
import threading

from command import WAIT, longer_and_longer, refused_port
from fake_openai import FakeOpenAi, completion
from language import COUNT, COUNTED, HELLO, HELLO_BACK, MODELS, TEST_MODELS, LanguageTest
from server import Server

CHAT, TEXT = os.environ["WASINN_CHAT"], os.environ["WASINN_TEXT"]
COMPLETION, METADATA, MESSAGE, PROBABILITIES, EMBEDDINGS = map(str, range(5))
GREEDY = {"temp": 0, "n-predict": 24}
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {
    "type": "object", "properties": {"place": {"enum": ["Rome", "Oslo"]}}, "required": ["place"]}}}
CALLS = {"chat": True, "temp": 0, "n-predict": 200, "tools": [WEATHER], "tool-choice": "required", "parallel-tool-calls": False}
LOCAL = {"tiny": f"{MODELS}/tiny.gguf", "caller": f"{TEST_MODELS}/caller/caller.gguf", "embedder": f"{TEST_MODELS}/encoder/embedder.gguf"}


class LanguageRemoteTest(LanguageTest):
    def fake(self, *args, **more):
        fake = FakeOpenAi(*args, **more)
        self.addCleanup(fake.stop)
        return fake

    def address(self, server, model="m"):
        return f"http://127.0.0.1:{getattr(server, 'port', server)}/v1/{model}"

    def configure(self, path, *lines, more=""):
        text = f"{more}\n[models.m]\npath = '{path}'\n[models.m.config]\n" + "\n".join(lines)
        return self.file("remote.toml", text + "\n")

    def text(self, path, prompt, *outputs, config=None, options=None, lines=(), more=""):
        """The guest's output, a line for each of the model's outputs."""
        prompt = prompt if isinstance(prompt, str) else json.dumps(prompt)
        settings = self.configure(path, *lines, more=more)
        result = self.wasinn("run", "--config", settings, "--threads", "1", TEXT, "m", json.dumps(config or {}),
                             json.dumps(options) if options is not None else "", prompt, *(outputs or [COMPLETION]))
        self.assertEqual(result.code, 0, result)
        self.log = result.err
        return result.out.splitlines() if result.out.count("\n") > 1 else [result.out.rstrip("\n")]

    def both(self, server, model, prompt, *outputs, **more):
        """Checks that a local model gives the same; returns it."""
        here = self.text(LOCAL[model], prompt, *outputs, **more)
        there = self.text(self.address(server, model), prompt, *outputs, **more)
        self.assertEqual(there, here)
        return there


class Guests(LanguageRemoteTest):
    """Guests of `wasinn serve`."""

    def setUp(self):
        super().setUp()
        self.server = self.serve_tiny()

    def test_a_prompt(self):
        self.assertIn("License", " ".join(self.both(self.server, "tiny", "GNU General Public", config=GREEDY)))

    def test_options_of_each_kind(self):
        for options in ({"reverse-prompt": "with"}, {"n-predict": 3}, {"logit-bias": {"101": 3}}, {"repeat-penalty": 1.5},
                        {"grammar": 'root ::= [a-z ]{8}'}, {"json-schema": {"type": "integer"}}, {"top-k": 1, "temp": 0.9}):
            with self.subTest(options):
                self.both(self.server, "tiny", "GNU General Public", config=GREEDY, options=options)

    def test_a_seed(self):
        self.both(self.server, "tiny", "GNU General Public", config={"n-predict": 24, "temp": 1.5, "seed": 11})

    def test_messages(self):
        for messages, answer in ((HELLO, HELLO_BACK), (COUNT, COUNTED)):
            [content, message] = self.both(self.server, "tiny", messages, COMPLETION, MESSAGE, config={"chat": True, "temp": 0})
            self.assertEqual(content, answer)
            self.assertEqual(json.loads(message), {"role": "assistant", "content": answer})

    def test_a_prompt_for_a_server_that_only_chats(self):
        there = self.text(self.address(self.server, "tiny"), COUNT[0]["content"], COMPLETION, config={"temp": 0}, lines=["api = 'chat'"])
        self.assertEqual(there, [COUNTED])

    def test_tools(self):
        here = json.loads(self.text(LOCAL["caller"], HELLO, MESSAGE, config=CALLS)[0])
        there = json.loads(self.text(self.address(self.server, "caller"), HELLO, MESSAGE, config=CALLS)[0])
        for message in (here, there):
            [call] = message["tool_calls"]
            self.assertTrue(call.pop("id"))
        self.assertEqual(there, here)
        self.assertEqual(there["tool_calls"][0]["function"]["name"], "weather")

    def test_metadata(self):
        config = {"chat": True, "temp": 0}
        here = json.loads(self.text(LOCAL["tiny"], COUNT, METADATA, config=config)[0])
        there = json.loads(self.text(self.address(self.server, "tiny"), COUNT, METADATA, config=config)[0])
        self.assertGreater(there["output_tokens"], 0)
        for key in ("input_tokens", "finish_reason"):
            self.assertEqual(there[key], here[key], key)
        limited = self.text(self.address(self.server, "tiny"), COUNT, METADATA, config={**config, "n-predict": 2})
        self.assertEqual(json.loads(limited[0])["finish_reason"], "length")

    def test_probabilities(self):
        for chat_or_not, prompt in (({"chat": True}, COUNT), ({}, "GNU General Public")):
            with self.subTest(chat_or_not):
                config = {**chat_or_not, "temp": 0, "n-predict": 3, "n-probs": 2}
                here = json.loads(self.text(LOCAL["tiny"], prompt, PROBABILITIES, config=config)[0])
                there = json.loads(self.text(self.address(self.server, "tiny"), prompt, PROBABILITIES, config=config)[0])
                self.assertEqual([one["token"] for one in there], [one["token"] for one in here])
                self.assertAlmostEqual(there[1]["logprob"], here[1]["logprob"], 3)
                self.assertEqual(len(there[1]["top_logprobs"]), 2)

    def test_embeddings(self):
        self.both(self.server, "embedder", "a text", EMBEDDINGS, config={"embedding": True})
        [numbers, reported] = self.both(
            self.server, "embedder", '["one", "two"]', EMBEDDINGS, COMPLETION, config={"embedding": True, "texts": True}
        )
        self.assertEqual(json.loads(reported), {"n_embedding": len(numbers.split()) // 2, "n_texts": 2})
        one = self.text(self.address(self.server, "embedder"), "a text", COMPLETION, lines=["api = 'embeddings'"])
        self.assertEqual(len(json.loads(one[0])["embedding"]), len(numbers.split()) // 2)

    def test_the_example_chat(self):
        flags = ("--temp", "0", "--n-predict", "24", "GNU General Public")
        here, there = (self.wasinn("run", "--threads", "1", "--model", f"lm={path}", CHAT, *flags)
                       for path in (LOCAL["tiny"], self.address(self.server, "tiny")))
        self.assertEqual(there.code, 0, there)
        self.assertEqual(there.out, here.out)
        self.assertRegex(there.err, r"\d+ tokens in, .* 24 out")
        asked = self.wasinn("run", "--model", f"lm={self.address(self.server, 'tiny')}", CHAT, "--temp", "0", input=b"Count to five.\nSay hello.\n")
        self.assertEqual(asked.out, f"{COUNTED}\n{HELLO_BACK}\n", asked)

    def test_inspect_lists_the_inputs_of_the_local_model(self):
        here, there = (json.loads(self.wasinn("inspect", "--json", path).out) for path in (LOCAL["tiny"], self.address(self.server, "tiny")))
        for side in ("inputs", "outputs"):
            self.assertEqual([(one["name"], one["shape"]) for one in there[side]], [(one["name"], one["shape"]) for one in here[side]])

    def test_a_prompt_that_is_too_long_is_refused(self):
        [reported] = self.text(self.address(self.server, "tiny"), "word " * 20000)
        self.assertRegex(reported, r"compute: 102: .*context")

    def test_a_model_that_the_server_lacks_is_an_error(self):
        [reported] = self.text(self.address(self.server, "none"), "Hello")
        self.assertRegex(reported, r"load: 8: .*the server has no model 'none', but caller, embedder, ranker, tiny")

    def test_a_second_server_serves_it(self):
        front = Server(self.dir, self.env, ("--config", self.configure(self.address(self.server, "tiny"))))
        self.addCleanup(self.expect_end, front)
        answer = self.ask(front, "chat/completions", model="m", messages=COUNT, temperature=0)
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(answer.json()["choices"][0]["message"]["content"], COUNTED)


class Requests(LanguageRemoteTest):
    """The requests that are sent, and those that are not."""

    def test_requests_have_the_name_headers_and_defaults(self):
        fake = self.fake(models=["org/name:tag"])
        lines = ["headers = { authorization = 'Bearer secret' }", "temp = 0.5", "n-predict = 7", "max_tokens_field = 'max_completion_tokens'"]
        self.text(self.address(fake, "org/name:tag"), "Hello", config={"temp": 1}, lines=lines)
        self.assertEqual(fake.asked, [("/v1/completions", {"model": "org/name:tag", "prompt": "Hello", "temperature": 1, "max_tokens": 7})])
        self.assertEqual(fake.headers["authorization"], "Bearer secret")

    def test_a_server_without_a_list_of_models_works(self):
        fake = self.fake(listing=(404, {"error": {"message": "none"}}))
        self.assertEqual(self.text(self.address(fake), "Hello"), ["so"])

    def test_keys_that_no_server_supports_are_refused(self):
        fake = self.fake()
        self.assertRegex(self.text(self.address(fake), "Hello", options={"lora": "a"})[0], "compute: 6: .*lora: ")
        self.assertRegex(self.text(self.address(fake), "Hello", config={"lora": "a"})[0], "init: 6: .*lora: ")
        self.assertEqual(fake.asked, [])

    def test_keys_without_effect_are_ignored_and_unknown_ones_logged(self):
        fake = self.fake()
        config = {"ctx-size": 100, "n-gpu-layers": 5, "threads": 2, "stream-stdout": True, "nonsense": 1}
        self.assertEqual(self.text(self.address(fake), "Hello", config=config), ["so"])
        self.assertEqual(fake.asked, [("/v1/completions", {"model": "m", "prompt": "Hello"})])
        self.assertEqual(self.log.count("unknown keys: nonsense"), 1, self.log)
        self.assertNotIn("ctx-size", self.log)

    def test_forbidden_requests_of_guests_are_refused(self):
        fake = self.fake()
        image = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://10.0.0.1/a.png"}}]}]
        self.assertRegex(self.text(self.address(fake), image, config={"chat": True})[0], "compute: 1: ")
        self.assertRegex(self.text(self.address(fake), "")[0], "compute: 1: .*empty")
        self.assertRegex(self.text(self.address(fake), "Hello", options={"temp": "hot"})[0], "compute: 1: .*temp: expected a number")
        tools = '[{"type": "function"}]\0, "model": "other"'
        self.assertRegex(self.text(self.address(fake), HELLO, config={"chat": True}, options={"tools": tools})[0], "compute: 1: .*tools")
        self.assertEqual(fake.asked, [])

    def test_keys_of_language_models_need_a_language_model(self):
        [reported] = self.text("grpc://127.0.0.1:1/m", "Hello", lines=["temp = 0"])
        self.assertIn("key 'temp' is for language models", reported)
        self.assertIn("api: expected one of auto, chat", self.text(self.address(self.fake()), "Hello", lines=["api = 'speech'"])[0])


class Answers(LanguageRemoteTest):
    """Answers of untrusted servers."""

    def outcome_of(self, status, body, more="", lines=()):
        fake = self.fake(lambda path, fields: (status, body))
        return self.text(self.address(fake), "Hello", more=more, lines=lines)

    def test_invalid_answers_are_refused(self):
        self.assertRegex(
            self.outcome_of(200, {"choices": []})[0], "compute: 5: .*the server's answer does not follow OpenAI's API"
        )

    def test_errors(self):
        for status, errno, error in ((429, 5, {"message": "later\non"}),
                                     (400, 102, {"message": "later on", "code": "context_length_exceeded"})):
            with self.subTest(status):
                [reported] = self.outcome_of(status, {"error": error})
                self.assertRegex(reported, rf"compute: {errno}: .*the model's server: .*later on")

    def test_a_huge_answer_is_refused(self):
        self.assertRegex(
            self.outcome_of(200, completion("a" * 200_000), lines=["max_message_bytes = 100000"])[0],
            "compute: 7: .*max_message_bytes",
        )

    def test_an_answer_beyond_the_guests_memory_is_refused(self):
        lists = b'{"choices": [{"text": "so"}], "more": [' + b"[]," * 300_000 + b"[]]}"
        self.assertRegex(self.outcome_of(200, lists, more="[limits]\nmax_tensor_bytes = 20000000\n")[0], "compute: 7: ")
        self.assertEqual(self.outcome_of(200, lists, more="[limits]\nmax_tensor_bytes = 200000000\n"), ["so"])

    def test_a_server_may_refuse_its_list_of_models(self):
        [reported] = self.text(self.address(self.fake(listing=(401, {"error": {"message": "no key"}}))), "Hello")
        self.assertRegex(reported, "load: 6: .*security: .*no key")

    def test_an_unreachable_server_is_an_error(self):
        self.assertRegex(self.text(self.address(refused_port(self)), "Hello")[0], "load: 5: ")

    def test_a_deadline(self):
        over = threading.Event()
        self.addCleanup(over.set)

        def wait(path, fields):
            over.wait()
            return 200, completion("late")

        fake = self.fake(wait)
        for timeout in longer_and_longer():
            self.assertRegex(self.text(self.address(fake), "Hello", more=f"[limits]\ncompute_timeout_ms = {timeout}\n")[0], "compute: 5: ")
            if fake.asked:
                break

    def test_many_wait_at_once(self):
        many = 8
        together = threading.Barrier(many)

        def wait(path, fields):
            together.wait(WAIT)
            return 200, completion(fields["prompt"])

        fake = self.fake(wait)
        front = Server(self.dir, self.env, ("--config", self.configure(self.address(fake), more="[limits]\ncompute_timeout_ms = 0")))
        self.addCleanup(self.expect_end, front)
        answers = [None] * many

        def ask(i):
            sent = {"inputs": [{"name": "prompt", "shape": [1], "datatype": "BYTES", "data": [f"number {i}"]}],
                    "outputs": [{"name": "completion"}]}
            answers[i] = front.infer("m", sent)

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(many)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for i, answer in enumerate(answers):
            self.assertEqual(answer.status, 200, answer)
            self.assertEqual(bytes(answer.json()["outputs"][0]["data"]).decode(), f"number {i}")
