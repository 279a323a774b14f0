"""Completions in the form that llama.cpp's server has of its own, and what else its clients ask for."""

import json

from configured import key, tenant
from language import COUNT, ENDLESS, HELLO, MODELS, LanguageTest
from language_test import events
from routes_test import PLAIN, saying
from server import read_all

PROMPT = "GNU General Public"
WHOLE = {"index", "content", "tokens", "id_slot", "stop", "model", "tokens_predicted", "tokens_evaluated", "tokens_cached", "generation_settings",
         "prompt", "has_new_line", "truncated", "stop_type", "stopping_word", "timings"}


class Completions(LanguageTest):
    def setUp(self):
        super().setUp()
        self.server = self.serve_tiny()

    def complete(self, path="/v1/completion", **fields):
        body = json.dumps({"model": "tiny", "prompt": PROMPT, "temperature": 0, "n_predict": 4, **fields})
        return self.server.request("POST", path, body, {"Content-Type": "application/json"})

    def completed(self, **fields):
        answer = self.complete(**fields)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()

    def test_a_whole_answer(self):
        reported = self.completed(seed=5, stop=["zz"])
        self.assertEqual(set(reported), WHOLE)
        by_openai = self.ask(self.server, "completions", model="tiny", prompt=PROMPT, temperature=0, max_tokens=4).json()
        self.assertEqual(reported["content"], by_openai["choices"][0]["text"])
        usage = by_openai["usage"]
        self.assertEqual(
            (reported["tokens_evaluated"], reported["tokens_predicted"]),
            (usage["prompt_tokens"], usage["completion_tokens"]),
        )
        self.assertEqual(reported["tokens_cached"], usage["prompt_tokens"] + 3, "the last token is not evaluated")
        self.assertEqual(
            (
                reported["index"],
                reported["stop"],
                reported["tokens"],
                reported["stop_type"],
                reported["stopping_word"],
                reported["truncated"],
            ),
            (0, True, [], "limit", "", False),
        )
        self.assertEqual((reported["model"], reported["prompt"]), ("tiny", PROMPT))
        settings = reported["generation_settings"]
        self.assertEqual((settings["n_predict"], settings["seed"], settings["temperature"], settings["stop"], settings["stream"], settings["logit_bias"]),
                         (4, 5, 0, ["zz"], False, []))

    def test_the_same_at_the_root(self):
        there = self.completed()["content"]
        for path in ("/completion", "/completions"):
            answer = self.complete(path)
            self.assertEqual((answer.status, answer.json()["content"]), (200, there), path)
        self.assertEqual(self.server.request("GET", "/completion").headers["Allow"], "POST")
        self.expect_error(self.complete("/completion", prompt=5), 400, "prompt", "prompt")
        chat = self.server.request("POST", "/chat/completions", json.dumps({"model": "tiny", "messages": HELLO, "max_tokens": 1}))
        self.assertEqual(chat.json()["object"], "chat.completion")
        self.assertIn("tiny", [one["id"] for one in self.server.request("GET", "/models").json()["data"]])
        self.assertEqual(self.server.request("POST", "/completion/x", b"{}").status, 404)

    def test_guests_have_the_root_first(self):
        route = self.file("r.wat", saying(PLAIN + b"a guest"))
        for path in ("/", "/completion"):
            with self.subTest(path):
                self.server = self.serve("--model", f"tiny={MODELS}/tiny.gguf", "--route", f"{path}={route}")
                self.assertEqual(self.complete("/completion").body, b"a guest")
                self.assertEqual(self.complete().json()["model"], "tiny")
                self.assertEqual(self.complete("/completions").status, 200)

    def test_a_stream(self):
        whole = self.completed(return_tokens=True)
        answer = self.complete(stream=True)
        self.assertEqual(answer.headers["Content-Type"], "text/event-stream")
        *pieces, last = events(answer)
        self.assertEqual("".join(one["content"] for one in pieces), whole["content"])
        self.assertEqual([token for one in pieces for token in one["tokens"]], whole["tokens"])
        self.assertEqual([one["tokens_predicted"] for one in pieces], [1, 2, 3, 4])
        self.assertEqual({(one["stop"], one["tokens_evaluated"]) for one in pieces}, {(False, whole["tokens_evaluated"])})
        self.assertEqual(set(last), WHOLE)
        self.assertEqual((last["content"], last["tokens"], last["stop"], last["stop_type"]), ("", [], True, "limit"))
        self.assertTrue(last["generation_settings"]["stream"])

    def test_prompts_of_all_kinds(self):
        tokens = self.ask(self.server, "tokenize", model="tiny", content=PROMPT, add_special=True).json()["tokens"]
        text = self.completed()["content"]
        for prompt in (tokens, {"prompt_string": PROMPT}, [PROMPT], [tokens], [*tokens[:2], "", *tokens[2:]]):
            self.assertEqual(self.completed(prompt=prompt)["content"], text, prompt)
        many = self.completed(prompt=[PROMPT, tokens, {"prompt_string": "Count"}, [tokens[0], "GNU"]])
        self.assertEqual([one["index"] for one in many], [0, 1, 2, 3])
        self.assertEqual([one["content"] for one in many[:2]], [text, text])
        self.assertEqual([one["index"] for one in self.completed(n_cmpl=2, n_predict=1)], [0, 1])
        for wrong in (None, [], [[]], 5, {}, [1.5], {"prompt_string": "a", "multimodal_data": ["YQ=="]}):
            self.expect_error(self.complete(prompt=wrong), 400, "prompt", self.complete(prompt=wrong).json()["error"]["param"])
        self.expect_error(self.complete(prompt=[10**6, "a"]), 400, "token")
        self.expect_error(self.complete(prompt=["a"] * 129), 400, "128", "prompt")

    def test_the_stop_type_is_reported(self):
        for fields, stop_type, word in (({"stop": ["icen"]}, "word", "icen"), ({"grammar": 'root ::= "a"'}, "eos", ""), ({"n_predict": 0}, "limit", "")):
            reported = self.completed(n_predict=30, **fields) if "n_predict" not in fields else self.completed(**fields)
            self.assertEqual((reported["stop_type"], reported["stopping_word"]), (stop_type, word), reported)
        full = self.completed(n_predict=-1, ignore_eos=True, grammar="root ::= [a-z ]+")
        self.assertEqual((full["stop_type"], full["truncated"]), ("limit", True))
        self.assertTrue(all(one["bias"] is None for one in full["generation_settings"]["logit_bias"]))
        self.assertGreater(len(full["generation_settings"]["logit_bias"]), 0)
        self.expect_error(self.complete(ignore_eos=True, grammar='root ::= "a"'), 400, "no token may be chosen")

    def test_only_wanted_members_are_sent(self):
        reported = self.completed(
            response_fields=[
                "content",
                "generation_settings/n_predict",
                "timings/predicted_n",
                "no/such",
                "prompt/x",
                "",
            ]
        )
        self.assertEqual(set(reported), {"content", "generation_settings/n_predict", "timings/predicted_n"})
        self.assertEqual((reported["generation_settings/n_predict"], reported["timings/predicted_n"]), (4, 4))
        *pieces, last = events(self.complete(stream=True, response_fields=["stop_type"]))
        self.assertEqual(last, {"stop_type": "limit"})
        self.assertIn("content", pieces[0])
        self.assertEqual(
            list(self.completed(n_probs=1, response_fields=["completion_probabilities"])), ["completion_probabilities"]
        )
        self.assertEqual(self.completed(n_probs=1, response_fields=["x"]), {})

    def test_probabilities(self):
        for fields, chosen, top in (({}, "logprob", "top_logprobs"), ({"post_sampling_probs": True, "temperature": 1}, "prob", "top_probs")):
            reported = self.completed(n_probs=3, return_tokens=True, seed=1, **fields)
            each = reported["completion_probabilities"]
            self.assertEqual([one["id"] for one in each], reported["tokens"])
            for one in each:
                self.assertEqual(set(one), {"id", "token", "bytes", chosen, top})
                self.assertLessEqual(len(one[top]), 3)
            *pieces, last = events(self.complete(n_probs=3, stream=True, seed=1, **fields))
            self.assertEqual(
                [[one["id"] for one in piece["completion_probabilities"]] for piece in pieces],
                [[token] for token in reported["tokens"]],
            )
            self.assertNotIn("completion_probabilities", last)
        self.assertNotIn("completion_probabilities", self.completed(n_probs=0))

    def test_invalid_fields_are_named(self):
        for field, value in (("n_probs", 21), ("n_predict", "x"), ("response_fields", "content"), ("response_fields", ["x"] * 65), ("n_cmpl", 129), ("return_tokens", 1), ("mirostat", 3), ("stop", 5)):
            self.expect_error(self.complete(**{field: value}), 400, field, field)
        self.expect_error(self.complete(dry_sequence_breakers=["x" * 50]), 400, "dry-sequence-breaker")
        error = self.complete(prompt=PROMPT * 1000).json()["error"]
        self.assertEqual((error["type"], error["code"]), ("exceed_context_size_error", "context_length_exceeded"))
        self.assertIn("exceeds the available context size", error["message"])
        self.assertEqual(self.completed()["stop_type"], "limit", "it goes on")


class Progress(LanguageTest):
    """Progress of prompts that are evaluated in parts."""

    def setUp(self):
        super().setUp()
        self.server = self.serve_tiny(config=f'[models.parts]\npath = "{MODELS}/tiny.gguf"\n[models.parts.config]\nparallel = 1\nbatch-size = 32\n')
        self.long = PROMPT * 20

    def completed(self, path, **fields):
        answer = self.ask(self.server, path, model="parts", temperature=0, stream=True, return_progress=True, **fields)
        self.assertEqual(answer.status, 200, answer)
        return [json.loads(line.removeprefix("data: ")) for line in answer.body.decode().splitlines() if line.startswith("data: {")]

    def check(self, reported, cached=0):
        progress = [one["prompt_progress"] for one in reported if "prompt_progress" in one]
        totals = {one["total"] for one in progress}
        self.assertEqual(len(totals), 1, progress)
        processed = [one["processed"] for one in progress]
        self.assertEqual((processed[0], processed[-1]), (progress[0]["cache"], progress[0]["total"]))
        self.assertTrue(all(0 < b - a <= 32 for a, b in zip(processed, processed[1:])), processed)
        self.assertGreaterEqual(processed[0], cached)
        self.assertTrue(
            all("prompt_progress" in one for one in reported[: len(progress)]) or "prompt_progress" not in reported[0],
            "before the text",
        )
        return progress

    def test_each_form_has_progress(self):
        whole = self.ask(self.server, "completion", model="tiny", prompt=self.long, temperature=0, n_predict=4).json()
        reported = self.completed("completion", prompt=self.long, n_predict=4)
        progress = self.check(reported)
        self.assertEqual(progress[0]["total"], whole["tokens_evaluated"])
        self.assertGreater(len(progress), 3)
        self.assertEqual("".join(one["content"] for one in reported), whole["content"])
        self.assertGreater(reported[-1]["timings"]["prompt_ms"], 0)
        again = self.check(self.completed("completions", prompt=self.long, max_tokens=1), cached=32)
        self.assertEqual(len(again), 2)
        self.check(self.completed("chat/completions", messages=[{"role": "user", "content": self.long}], max_tokens=2))
        responses = self.completed("responses", input=self.long + "again", max_output_tokens=2)
        self.assertEqual({one["type"] for one in responses if "prompt_progress" in one}, {"response.in_progress"})
        self.check(responses)

    def test_a_text_without_tokens_has_progress(self):
        reported = self.completed("completion", prompt=self.long, n_predict=4, logit_bias=[[2, 100]])
        self.check(reported)
        self.assertEqual((reported[-1]["stop_type"], reported[-1]["tokens_predicted"]), ("eos", 0))
        self.assertGreater(reported[-1]["timings"]["prompt_ms"], 0)
        self.assertLess(reported[-1]["timings"]["prompt_ms"], 3_600_000)  # it is no time of day

    def test_each_of_several_texts_has_progress(self):
        reported = self.completed("completion", prompt=[self.long, "Count" + self.long], n_predict=1)
        for index in (0, 1):
            self.check([one for one in reported if one["index"] == index])

    def test_a_client_may_leave_during_the_prompt(self):
        body = json.dumps({"model": "parts", "prompt": self.long, "stream": True, "return_progress": True, "grammar": ENDLESS["grammar"]})
        connection = self.server.connect()
        connection.request("POST", "/completion", body)
        self.assertIn(b"prompt_progress", connection.getresponse().readline())
        connection.close()
        self.server.await_metrics("wasinn_contexts 0")

    def test_timings_of_each_token(self):
        reported = self.completed("completion", prompt=PROMPT, n_predict=3, timings_per_token=True)
        self.assertEqual([one["timings"]["predicted_n"] for one in reported if one.get("tokens")], [1, 2, 3])
        for path, fields in (("completions", {"prompt": PROMPT}), ("chat/completions", {"messages": COUNT}), ("responses", {"input": PROMPT})):
            self.assertGreater(
                sum("timings" in one for one in self.completed(path, timings_per_token=True, **fields)), 1, path
            )

    def test_only_streams_have_progress(self):
        answer = self.ask(self.server, "completion", model="parts", prompt=PROMPT, n_predict=1, return_progress=True, timings_per_token=True)
        self.assertNotIn("prompt_progress", answer.json())
        self.expect_error(self.ask(self.server, "completion", model="parts", prompt=PROMPT, return_progress=1), 400, "return_progress", "return_progress")
        # A prompt that does not fit is a status, and no event.
        answer = self.ask(self.server, "completion", model="parts", prompt=PROMPT * 1000, stream=True, return_progress=True)
        self.assertEqual((answer.status, answer.json()["error"]["code"]), (400, "context_length_exceeded"))


class Others(LanguageTest):
    """Other paths."""

    def test_tokens_with_their_texts(self):
        server = self.serve_tiny()
        text = "GNU 媽"
        plain = self.ask(server, "tokenize", model="tiny", content=text).json()["tokens"]
        pieces = self.ask(server, "tokenize", model="tiny", content=text, with_pieces=True).json()["tokens"]
        self.assertEqual([one["id"] for one in pieces], plain)
        parts = [bytes(one["piece"]) if isinstance(one["piece"], list) else one["piece"].encode() for one in pieces]
        self.assertEqual(b"".join(parts).strip().decode(), text)
        self.expect_error(self.ask(server, "tokenize", model="tiny", content=text, with_pieces=1), 400, "with_pieces", "with_pieces")

    def test_verbose(self):
        server = self.serve_tiny()
        prompt = self.ask(server, "apply-template", model="tiny", messages=COUNT).json()["prompt"]
        chat = self.ask(server, "chat/completions", model="tiny", messages=COUNT, temperature=0, verbose=True).json()
        self.assertEqual(set(chat["__verbose"]), WHOLE)
        self.assertIn(prompt, chat["__verbose"]["prompt"])
        self.assertEqual(chat["__verbose"]["content"], chat["choices"][0]["message"]["content"])
        text = self.ask(server, "completions", model="tiny", prompt=PROMPT, max_tokens=1, n=2, verbose=True).json()
        self.assertEqual((len(text["choices"]), text["__verbose"]["prompt"]), (2, PROMPT))
        *reported, done = events(
            self.ask(server, "chat/completions", model="tiny", messages=HELLO, max_tokens=1, verbose=True, stream=True)
        )
        self.assertIsNone(done)
        self.assertEqual(["__verbose" in one for one in reported], [False] * (len(reported) - 1) + [True])
        self.assertNotIn("__verbose", self.ask(server, "completions", model="tiny", prompt=PROMPT, max_tokens=1, verbose=False).json())

    def test_texts_for_vectors_in_other_forms(self):
        server = self.serve_tiny()

        def vectors(texts):
            answer = self.ask(server, "embeddings", model="embedder", input=texts)
            self.assertEqual(answer.status, 200, answer)
            return [one["embedding"] for one in answer.json()["data"]]

        of_text, = vectors("the cat")
        parts = {"content": [{"type": "text", "text": "the "}, {"type": "text", "text": "cat"}]}
        for other in ({"prompt_string": "the cat"}, parts, ["the cat"], [parts]):
            self.assertEqual(vectors(other), [of_text], other)
        self.assertEqual(len(vectors(["a", [5, "the cat", 6], {"prompt_string": [5]}])), 3)
        self.assertEqual(len(vectors([5, "the cat"])), 1)
        self.assertEqual(len(vectors("")), 1)
        for wrong in ([], {}, {"content": "a"}, {"content": []}, {"content": [{"type": "image_url"}]}, [{"prompt_string": 5}], [[]], [1.5]):
            self.assertEqual(self.ask(server, "embeddings", model="embedder", input=wrong).status, 400, wrong)

    def test_a_key_in_a_header_of_its_own(self):
        server = self.serve_tiny(config=tenant("a"))

        def status(*headers):
            body = json.dumps({"model": "tiny", "prompt": PROMPT, "n_predict": 1}).encode()
            lines = [f"Content-Length: {len(body)}", "Host: localhost", "Connection: close", *headers]
            with server.socket() as connection:
                connection.sendall(("POST /completion HTTP/1.1\r\n" + "\r\n".join(lines) + "\r\n\r\n").encode() + body)
                return int(read_all(connection).split(b" ", 2)[1])

        right, bearer = "X-Api-Key: key of a", f"Authorization: {key('a')['Authorization']}"
        self.assertEqual([status(right), status("x-api-key: key of a"), status(bearer)], [200, 200, 200])
        for wrong in ((), ("X-Api-Key: no",), ("X-Api-Key:",), ("X-Api-Key: Bearer key of a",), (right, right), (right, "X-Api-Key: no"),
                      (right, "Authorization: Bearer no"), (right, "Authorization:")):
            self.assertEqual(status(*wrong), 401, wrong)
        self.assertEqual(status(bearer, "X-Api-Key: no"), 200, "where both are there, Authorization counts")
